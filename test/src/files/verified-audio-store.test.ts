/** A disk that is not mounted, or another one: nothing is lost to it, nothing is written to it, and all goes on when it is back. */
import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { adopt } from '../../../scripts/admin/database.ts';
import { verify } from '../../../scripts/admin/verify.ts';
import { StorageProbe } from '../../../src/files/storage-probe.ts';
import { readinessOf } from '../../../src/process/roles.ts';
import { eraseSession } from '../../../src/sessions/support.ts';
import { removeOrphans } from '../../../src/worker/sweeps.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { asSupport } from '../../support/service/admin.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, row, upload } from '../../support/service/jobs.ts';
import { useService } from '../../support/service/use-service.ts';
import { ScriptedRecognizer } from '../../support/models/scripted-recognizer.ts';
import { tone } from '../../support/uploads/uploads.ts';
import { useFolder } from '../../support/use-folder.ts';
import { VerifiedAudioStore } from '../../../src/files/verified-audio-store.ts';
import { FileAudioStore } from '../../../src/files/file-audio-store.ts';
import type { TestService } from '../../support/service/service.ts';

const folder = useFolder();
const file = join(folder, 'tone.wav');
beforeAll(async () => writeFile(file, await tone(1_000)));

/** Leaves the empty folder that the disk of DATA_DIR is mounted on. */
async function unmount({ dataDir }: TestService): Promise<void> {
  await rename(dataDir, `${dataDir}-away`);
  await mkdir(dataDir, { mode: 0o711 });
}

async function mount({ dataDir }: TestService): Promise<void> {
  await rmdir(dataDir);
  await rename(`${dataDir}-away`, dataDir);
}

const storeOf = ({ db, dataDir }: TestService) => new VerifiedAudioStore(db, new FileAudioStore(dataDir));
const problem = async (service: TestService) => {
  const audioStore = storeOf(service);
  const storageProbe = new StorageProbe(audioStore, service.spool);
  const asked = { db: service.db, audioStore, storageProbe };
  return (await readinessOf(asked, () => undefined, () => undefined)).problem; // prettier-ignore
};
const another = /audio is not the audio store of this database: it does not hold its mark. Is its disk mounted/;
const refused = ({ post }: TestService, key: string) =>
  post('/v1/transcriptions', key).attach('file', file).expect(503).expect('Retry-After', /^\d+$/);

test('not mounted at a restart → not ready, uploads 503, no attempt spent, nothing written; mounted → it goes on by itself', async () => {
  const before = await useService();
  const account = await makeAccount(before.db, { balanceMs: 60_000 });
  const { sessionId } = await upload(before, account, file);
  await unmount(before);

  const service = await useService({ beside: before });
  expect(await problem(service)).toMatch(another);
  expect((await refused(service, account.key)).body).toMatchObject({ code: 'unavailable' });
  const worker = await service.work(new ScriptedRecognizer());
  expect(worker.notReadyReason()).toMatch(another);
  expect(await row(service, account, sessionId)).toMatchObject({ status: 'queued', attempts_left: 3 });
  expect(await readdir(service.dataDir)).toEqual([]);

  // Copied without its empty folders, for one.
  await rm(join(`${service.dataDir}-away`, 'audio', 'incoming'), { recursive: true });
  await mount(service);
  expect(await problem(service)).toBeUndefined();
  expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed' });
  expect(await row(service, account, sessionId)).toMatchObject({ attempt: 1 });
  const next = await upload(service, account, file);
  expect(await final(service, account, next.sessionId)).toMatchObject({ status: 'completed' });
  await expectSound(service);
});

test('unmounted while it runs → uploads 503, nothing written; mounted → it goes on by itself', async () => {
  const service = await useService();
  const account = await makeAccount(service.db, { balanceMs: 60_000 });
  await upload(service, account, file);
  await unmount(service);
  expect((await refused(service, account.key)).body).toMatchObject({ code: 'unavailable' });
  expect(await readdir(service.dataDir)).toEqual([]);
  await mount(service);
  await upload(service, account, file);
});

test('away while a session is erased and a sweep looks → its audio is not taken for removed', async () => {
  const service = await useService();
  const account = await makeAccount(service.db, { balanceMs: 60_000 });
  const { sessionId } = await upload(service, account, file);
  const audioStore = storeOf(service);
  await unmount(service);
  expect(await eraseSession({ ...service, audioStore }, account.id, sessionId)).toMatchObject({ kind: 'audio_left' });
  await mount(service);
  expect(await service.audioStore.exists(account.id, sessionId)).toBe(true);
});

test("a new database beside another one's store → nothing is swept from it; `store adopt` → it is the new one's, and the other stands still", async () => {
  const first = await useService();
  const account = await makeAccount(first.db, { balanceMs: 60_000 });
  const { sessionId } = await upload(first, account, file);
  const second = await useService({ env: { DATA_DIR: first.dataDir } });
  const ofAnother = /it holds the mark of another database/;
  expect(await problem({ ...second, dataDir: first.dataDir })).toMatch(ofAnother);
  const audioStore = storeOf({ ...second, dataDir: first.dataDir });
  const sweeper = { ...second, audioStore, stopping: new AbortController().signal };
  await expect(removeOrphans(sweeper)).rejects.toThrow(ofAnother);
  expect(await first.audioStore.exists(account.id, sessionId)).toBe(true);

  const environment = { DATABASE_URL: second.databaseUrl, DATA_DIR: first.dataDir };
  const unproven = await asSupport(environment, verify, 'looks');
  expect([unproven.note, unproven.exitCode]).toEqual([expect.stringMatching(ofAnother), 1]);
  const { json } = await asSupport(environment, adopt);
  expect(json).toMatchObject({ id: expect.any(String), place: join(first.dataDir, 'audio') });
  expect(await problem({ ...second, dataDir: first.dataDir })).toBeUndefined();
  expect(await problem(first)).toMatch(ofAnother);
  expect((await asSupport(environment, verify, 'looks')).note).toBeUndefined();
});

test('several processes begin at once, on a store that nobody has marked → one mark, which all of them know', async () => {
  const service = await useService();
  await service.db.deleteFrom('audio_store').execute();
  const fresh = new FileAudioStore(join(folder, 'fresh'));
  const stores = Array.from({ length: 8 }, () => new VerifiedAudioStore(service.db, fresh));
  await Promise.all(stores.map((store) => store.open()));
  await Promise.all(stores.map((store) => store.checkReadable()));
  const { store_id } = await service.db.selectFrom('audio_store').selectAll().executeTakeFirstOrThrow();
  expect(await fresh.readStoreId()).toBe(store_id);
});

test('killed before the mark was written → the next start writes it', async () => {
  const service = await useService();
  await service.db.updateTable('audio_store').set({ is_written: false }).execute();
  await rm(join(service.dataDir, 'audio', 'store-mark'));
  expect(await problem(service)).toBeUndefined();
  expect((await service.db.selectFrom('audio_store').selectAll().executeTakeFirstOrThrow()).is_written).toBe(true);
});
