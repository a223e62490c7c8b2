/** `admin move --to-store`: killed in between, typed again, and the service goes on in the object store; and back. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listLedger } from '../../db/accounts/ledger.ts';
import { cancelSession } from '../../src/sessions/support.ts';
import { atEnd } from '../support/at-end.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { createTestDatabase } from '../support/service/database.ts';
import { final, upload } from '../support/service/jobs.ts';
import { startTestService } from '../support/service/service.ts';
import { until } from '../support/until.ts';
import { tone, voice } from '../support/uploads/uploads.ts';
import { useFolder } from '../support/use-folder.ts';
import { runAdminProcess } from '../scripts/admin/run-admin.ts';
import { startScript } from '../scripts/run-script.ts';
import { useObjectStore } from './object-store.ts';
import type { TestService } from '../support/service/service.ts';

const objects = await useObjectStore();
const folder = useFolder();
const { url: databaseUrl, drop } = await createTestDatabase();
atEnd(drop);
const dataDir = join(folder, 'data');
const { AUDIO_STORE: there, ...access } = objects.env as Record<string, string> & { AUDIO_STORE: string };
const env = { ...access, DATABASE_URL: databaseUrl, DATA_DIR: dataDir };
const toS3 = ['--json', 'move', '--to-store', there];
/** So many that a kill falls between two of them. */
const waiting = 40;

async function serving<T>(serve: (service: TestService) => Promise<T>, settings = {}): Promise<T> {
  const service = await startTestService({ beside: { databaseUrl, dataDir }, env: settings });
  return serve(service).finally(service.stop);
}

const stored = async () => (await objects.objects()).filter((path) => !path.endsWith('store-mark'));

test('killed → again: nothing twice, nothing lost; queued uploads are transcribed from there, each charged once; and back', async () => {
  await mkdir(dataDir);
  const file = join(folder, 'voice.wav');
  await writeFile(file, await voice(2_000));
  // Goes there in several parts.
  const large = join(folder, 'large.wav');
  await writeFile(large, await tone(600_000));
  const limits = { requests_per_minute: 100_000, queued_sessions: 1_000, running_jobs: 4 };
  const [account, queued, failed] = await serving(async (service) => {
    const owner = await makeAccount(service.db, { limits });
    const sent = async (path: string) => (await upload(service, owner, path)).sessionId;
    const canceled = await sent(large);
    await cancelSession(service, canceled);
    const accepted: string[] = [];
    while (accepted.length < waiting) accepted.push(await sent(file));
    return [owner, accepted, canceled] as const;
  });

  const first = startScript(['scripts/admin/main.ts', ...toS3], env);
  await until(async () => (await stored()).length > 2);
  first.kill('SIGKILL');
  expect((await first.ended).code).toBeNull();
  const reached = (await stored()).length;
  expect(reached).toBeLessThan(waiting + 1);

  const again = await runAdminProcess(toS3, env);
  expect(again).toMatchObject({ code: 0, stderr: '' });
  const moved = JSON.parse(again.stdout) as { sent: number; there: number };
  expect(moved).toMatchObject({
    ...{ recordings: waiting + 1, unreadable: 0, settings: { AUDIO_STORE: there }, verify: { sound: true } },
    settings: { AUDIO_STORE: there, AWS_ENDPOINT_URL: access.AWS_ENDPOINT_URL },
  });
  // A put that the kill met may be there as well.
  expect(moved.there).toBeGreaterThanOrEqual(reached);
  expect(moved.sent + moved.there).toBe(waiting + 1);
  expect((await stored()).map((path) => path.split('/').at(-1)).sort()).toEqual([...queued, failed].sort());
  expect((await readdir(join(dataDir, 'audio', account.id))).length).toBe(waiting + 1);
  expect(again.stdout + again.stderr).not.toContain(access.AWS_SECRET_ACCESS_KEY);
  await rm(join(dataDir, 'audio', account.id), { recursive: true });

  const half = queued.splice(0, waiting / 2);
  await serving(async (service) => {
    const worker = await service.work();
    for (const session of half) expect(await final(service, account, session)).toMatchObject({ status: 'completed' });
    await worker.stop();
  }, objects.env);
  await goesBack();
  await serving(async (service) => {
    await service.work();
    for (const session of queued) await final(service, account, session);
    const charged = (await listLedger(service.db, account.id)).flatMap(({ session_id }) => session_id ?? []);
    expect(charged.sort()).toEqual([...half, ...queued].sort());
  });
});

/** Workers took what they liked; what is left goes back to the folder. */
async function goesBack(): Promise<void> {
  const left = (await stored()).length;
  const back = await runAdminProcess(['--json', 'move', '--to-store', 'file:'], { ...env, AUDIO_STORE: there });
  expect(back).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(back.stdout)).toMatchObject({ recordings: left, sent: left, verify: { sound: true } });
}
