/** SIGKILL in the middle of a job. What was accepted is completed after the next start, and charged once. */
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import supertest from 'supertest';
import { openDatabase } from '../../db/connection/database.ts';
import { joinEmbeddedPostgres } from '../../db/embedded/embedded-postgres.ts';
import { listLedger } from '../../db/accounts/ledger.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { longSpeech } from '../support/uploads/audio-fixtures.ts';
import { expectSound } from '../support/service/audit.ts';
import { childrenOf, processesAbout } from '../rig/processes.ts';
import { startProcess } from '../support/service/processes.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';
import type { Db } from '../../db/connection/database.ts';
import type { TestAccount } from '../support/service/accounts.ts';
import type { ServiceProcess } from '../support/service/processes.ts';

const folder = useFolder();
/**
 * Made here, since tests that run at the same time don't wait for hooks. So long that progress, which is written every two
 * seconds, is seen.
 */
const durationMs = 120_000;
const prepared = longSpeech(durationMs / 1000, `${folder}/speech.wav`);

const bearer = (account: TestAccount) => ({ Authorization: `Bearer ${account.key}` });
async function uploadSpeech(url: string, account: TestAccount): Promise<string> {
  const request = supertest(url)
    .post('/v1/transcriptions')
    .set(bearer(account))
    .attach('file', await prepared);
  return (await request.expect(202)).body.sessionId as string;
}
async function finalSession(url: string, account: TestAccount, id: string): Promise<{ status: string }> {
  const wait = () => supertest(url).get(`/v1/sessions/${id}/transcript?wait=10`).set(bearer(account)).expect(200);
  const { body } = await until(wait, ({ body: { status } }) => /completed|failed/.test(status));
  return body as { status: string };
}

const recognizerProgram = 'sherpa-onnx/child-main.ts';

/** Kills a process group in the middle of a session's recognition, and everything in `alsoKill`. */
async function killDuringRecognition(
  service: ServiceProcess,
  { account, id, dataDir }: { account: TestAccount; id: string; dataDir: string },
  alsoKill: () => number[],
): Promise<void> {
  const session = async () => (await supertest(service.url).get(`/v1/sessions/${id}`).set(bearer(account))).body;
  // Progress comes from the recognizer alone.
  await until(session, ({ status, progress }) => status === 'processing' && progress > 0);
  const running = childrenOf(service.pid, recognizerProgram);
  expect(running).not.toEqual([]);
  process.kill(-service.pid, 'SIGKILL');
  for (const pid of alsoKill()) process.kill(pid, 'SIGKILL');
  expect(await service.ended).toBe('SIGKILL');
  // The recognizer is in a group of its own, and dies all the same.
  const isGone = (pids: number[]) => !running.some((pid) => pids.includes(pid));
  await until(() => processesAbout(recognizerProgram), isGone);
  await until(
    () => processesAbout(dataDir),
    (pids) => pids.length === 0,
  );
}

/** After the next start: everything as if nothing had happened. */
async function expectRecovered(db: Db, account: TestAccount, ids: string[], dataDir: string): Promise<void> {
  expect((await listLedger(db, account.id)).map((entry) => entry.amount_ms)).toEqual([
    ...[3_600_000, ...ids.map(() => -durationMs)],
  ]);
  const { reserved_ms } = await db.selectFrom('accounts').select('reserved_ms').executeTakeFirstOrThrow();
  expect(reserved_ms).toBe(0);
  await expectSound({ db, dataDir });
}

test('kill -9 of the service and its PostgreSQL → the next start just works, nothing accepted is lost', async () => {
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'killed-'));
  const env = { DATA_DIR: dataDir };
  const service = await startProcess('start', env);
  // Joined like the admin command, and left before the kill.
  const admin = await joinEmbeddedPostgres({ folder: join(dataDir, 'postgres') });
  const { db, close } = openDatabase(admin.url, () => {});
  const account = await makeAccount(db, { limits: { requests_per_minute: 100_000 } });
  const ids = [await uploadSpeech(service.url, account), await uploadSpeech(service.url, account)];
  await Promise.all([close(), admin.leave()]);
  const postmaster = Number((await readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0]);
  // The last one: on a busy machine the first may be completed by now.
  await killDuringRecognition(service, { account, id: ids.at(-1)!, dataDir }, () => [postmaster]);

  const again = await startProcess('start', env);
  for (const id of ids) expect(await finalSession(again.url, account, id)).toMatchObject({ status: 'completed' });
  const after = openDatabase(admin.url, () => {});
  await expectRecovered(after.db, account, ids, dataDir);
  await after.db.destroy();
  expect(await again.stop()).toBe(0);
});
