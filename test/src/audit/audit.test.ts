/** What the auditor makes of things that change while it looks, one change at a time. */
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inSnapshot } from '../../../db/connection/transaction.ts';
import { FileAudioStore } from '../../../src/files/file-audio-store.ts';
import { audit, checkNeededAudio, checkSuperfluousFiles } from '../../../src/audit/audit.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { auditedFiles } from '../../support/service/audit.ts';
import { upload } from '../../support/service/jobs.ts';
import { makeSession } from '../../support/service/sessions.ts';
import { startTestService } from '../../support/service/service.ts';
import { tone } from '../../support/uploads/uploads.ts';
import type { Audited } from '../../../src/audit/audit.ts';
import type { TestAccount } from '../../support/service/accounts.ts';
import type { TestService } from '../../support/service/service.ts';

let service: TestService;
let account: TestAccount;
let audited: Audited;
let file: string;
beforeEach(async () => {
  service = await startTestService();
  const { db, dataDir } = service;
  audited = { db, ...auditedFiles(dataDir) };
  account = await makeAccount(db);
  file = join(await mkdtemp(join(process.env.TEST_FOLDER!, 'audit-')), 'tone.wav');
  await writeFile(file, await tone(500));
});
afterEach(() => service.stop());

test('what is committed after the auditor began to look → is in none of its rules; and it can write nothing', async () => {
  await inSnapshot(service.db, async (snapshot) => {
    const count = () => snapshot.selectFrom('sessions').select('id').execute();
    expect(await count()).toEqual([]);
    await makeSession(service.db, account.id);
    expect(await count()).toEqual([]);
  });
  const writing = inSnapshot(service.db, (snapshot) => snapshot.deleteFrom('sessions').execute());
  await expect(writing).rejects.toThrow(/read-only transaction/);
});

test('a session that is erased, with its audio, between the look at its row and at its file → no breach', async () => {
  const { sessionId } = await upload(service, account, file);
  class ErasedMeanwhile extends FileAudioStore {
    override async exists(accountId: string, id: string) {
      await service.db.deleteFrom('sessions').where('id', '=', sessionId).execute();
      await service.audioStore.remove(account.id, sessionId);
      return super.exists(accountId, id);
    }
  }
  const erasing = { ...audited, audioStore: new ErasedMeanwhile(service.dataDir) };
  expect(await checkNeededAudio(erasing)).toMatchObject({ checked: 1, breaches: 0 });
});

test('the file of an upload whose row comes while the auditor waits → no breach; whose row never comes → one', async () => {
  const { sessionId } = await upload(service, account, file);
  const row = await service.db.deleteFrom('sessions').returningAll().executeTakeFirstOrThrow();
  class CommittedMeanwhile extends FileAudioStore {
    /** Asked of what looked superfluous. */
    override async exists(accountId: string, id: string): Promise<boolean> {
      await service.db.insertInto('sessions').values(row).execute();
      return super.exists(accountId, id);
    }
  }
  const committing = { ...audited, audioStore: new CommittedMeanwhile(service.dataDir) };
  const [needed] = await checkSuperfluousFiles(committing, { sweptWithinMs: -Infinity, removedWithinMs: 100 });
  expect(needed).toMatchObject({ id: 'audio_is_needed', checked: 1, breaches: 0 });
  expect(await service.db.selectFrom('sessions').select('id').execute()).toHaveLength(1);

  await service.db.deleteFrom('sessions').execute();
  const [check] = await checkSuperfluousFiles(audited, { sweptWithinMs: -Infinity, removedWithinMs: 100 });
  expect(check).toMatchObject({ checked: 1, breaches: 1, examples: [`${account.id}/${sessionId}`] });
});

test('old audio of a session that was completed a moment ago → waits for the sweep, no breach', async () => {
  const { id } = await makeSession(service.db, account.id, { status: 'completed' });
  await service.audioStore.put(file, account.id, id);
  await utimes(service.audioStore.path(account.id, id), 0, 0);
  const of = async () => (await audit(audited)).checks.find((check) => check.id === 'audio_is_needed');
  expect(await of()).toMatchObject({ checked: 1, breaches: 0, awaitingSweep: 1 });

  const before = new Date(Date.now() - 3 * 3_600_000).toISOString();
  await service.db.updateTable('sessions').set({ completed_at: before }).execute();
  expect(await of()).toMatchObject({ checked: 1, breaches: 1, awaitingSweep: 0 });
});

test('no folder for audio or work yet, as before the first start → nothing to look at, sound; how far it is is told', async () => {
  await rm(service.dataDir, { recursive: true });
  const told: number[] = [];
  const { sound, checks } = await audit(audited, { onProgress: (done) => told.push(done) });
  expect(sound).toBe(true);
  expect(told).toEqual([...told].sort((a, b) => a - b));
  expect(told.at(-1)).toBe(1);
  expect(checks.map(({ checked }) => checked).every((checked) => checked <= 1)).toBe(true);
});
