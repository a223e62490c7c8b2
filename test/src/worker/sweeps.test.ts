import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { sql } from 'kysely';
import { insertIdempotencyRecord } from '../../../db/sessions/idempotency.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { acquireLease } from '../../../db/leases.ts';
import { eraseSession } from '../../../src/sessions/support.ts';
import { removeWorkOfEndedAttempts, sweep } from '../../../src/worker/sweeps.ts';
import { WorkFolder } from '../../../src/files/work-folder.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { expectSound } from '../../support/service/audit.ts';
import { jobsOf, row, upload } from '../../support/service/jobs.ts';
import { sweepLater } from '../../support/service/later-sweeps.ts';
import { useService } from '../../support/service/use-service.ts';
import { claimSession, finishSession, queueSession } from '../../support/service/sessions.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { WorkerContext } from '../../../src/worker/worker-context.ts';
import type { TestAccount } from '../../support/service/accounts.ts';

const service = await useService();
const folder = useFolder();
let worker: Pick<WorkerContext, 'db' | 'queue' | 'log' | 'audioStore' | 'workFolder' | 'stopping'>;
let account: TestAccount;
beforeAll(async () => {
  await ffmpeg(...sine(1), `${folder}/tone.wav`);
  const workFolder = new WorkFolder(service.dataDir);
  await workFolder.open();
  worker = { ...service, workFolder, stopping: new AbortController().signal };
});
beforeEach(async () => void (account = await makeAccount(service.db)));
afterEach(() => expectSound(service));

const uploadTone = () => upload(service, account, `${folder}/tone.wav`);
const audioOf = (sessionId: string) => service.audioStore.path(account.id, sessionId);
async function writeAudio(sessionId: string): Promise<string> {
  await mkdir(dirname(audioOf(sessionId)), { recursive: true });
  await writeFile(audioOf(sessionId), 'audio');
  return audioOf(sessionId);
}
const exists = (sessionId: string) => service.audioStore.exists(account.id, sessionId);
const minuteMs = 60_000;

test('a session whose job vanished → gets a job for the attempts that are left, once', async () => {
  const { sessionId, jobId } = await uploadTone();
  await sql`delete from pgboss.job where data->>'sessionId' = ${sessionId}`.execute(service.db);
  await sql`update sessions set attempts_left = 2 where id = ${sessionId}`.execute(service.db);
  await Promise.all([sweep(worker), sweep(worker), sweep(worker)]);
  const session = await row(service, account, sessionId);
  expect(session).toMatchObject({ status: 'queued', job_id: jobId, reserved_ms: 1_000, attempts_left: 2 });
  expect(await jobsOf(service, sessionId)).toMatchObject([{ id: session.queue_job_id, state: 'created' }]);
});

test('a session whose job vanished and whose attempts are spent → fails with the last reason, reservation released', async () => {
  const { sessionId } = await uploadTone();
  await sql`delete from pgboss.job where data->>'sessionId' = ${sessionId}`.execute(service.db);
  await sql`update sessions set attempts_left = 0, status = 'processing', attempt = 1, started_at = now(), infrastructure_retries = 5,
    last_error_code = 'timed_out'
    where id = ${sessionId}`.execute(service.db);
  await sweep(worker);
  expect(await row(service, account, sessionId)).toMatchObject({ status: 'failed', error_code: 'timed_out' });
  expect(await jobsOf(service, sessionId)).toEqual([]);
});

test('sessions with a job that waits or runs → left alone', async () => {
  const { sessionId } = await uploadTone();
  const before = await jobsOf(service, sessionId);
  for (const state of ['retry', 'active', 'created']) {
    await sql`update pgboss.job set state = ${sql.lit(state)} where id = ${before[0]!.id}`.execute(service.db);
    await sweep(worker);
    expect(await row(service, account, sessionId)).toMatchObject({ queue_job_id: before[0]!.id, status: 'queued' });
  }
});

test('audio without a row → kept for half an hour, in which its upload may still commit, then removed', async () => {
  const { sessionId } = await uploadTone();
  const orphan = randomUUIDv7();
  await writeAudio(orphan);
  await sweep(worker);
  await sweepLater(worker, 29 * minuteMs);
  expect(await exists(orphan)).toBe(true);
  await sweepLater(worker, 31 * minuteMs);
  expect(await exists(orphan)).toBe(false);
  expect(await exists(sessionId)).toBe(true);
});

test('audio that a jump of the clock makes old in a moment → kept for ten minutes, in which uploads commit', async () => {
  const orphan = randomUUIDv7();
  await writeAudio(orphan);
  const { sessionId } = await uploadTone();
  const row = await service.db
    .deleteFrom('sessions')
    .where('id', '=', sessionId)
    .returningAll()
    .executeTakeFirstOrThrow();
  await sweepLater(worker, 300 * minuteMs, async (ms) => {
    expect(ms).toBe(10 * minuteMs);
    await service.db.insertInto('sessions').values(row).execute();
  });
  expect(await exists(sessionId)).toBe(true);
  await eraseSession(service, account.id, sessionId);
  expect(await exists(orphan)).toBe(false);
});

test('what one worker does for all → once in its time, also after the clock of the database was set back', async () => {
  const attempts = () => Promise.all([1, 2, 3].map(() => acquireLease(service.db, 'list audio', 3_600)));
  const taken = async () => (await attempts()).filter(Boolean).length;
  expect([await taken(), await taken()]).toEqual([1, 0]);
  for (const moved of ['- 61 minutes', '+ 61 minutes']) {
    await sql`update leases set taken_at = now() + ${moved}::interval`.execute(service.db);
    expect([await taken(), await taken()]).toEqual([1, 0]);
  }
});

test("audio that can't be removed or listed → keeps no other audio, and is logged", async () => {
  for (let orphans = 0; orphans < 2; orphans += 1) await writeAudio(randomUUIDv7());
  // Nobody removes a folder as a file, or opens one that leads to itself, whatever his rights. Both are met first.
  const first = '00000000-0000-7000-8000-000000000000';
  const [stuck, loop] = [audioOf(first), join(service.dataDir, 'audio', first)];
  await mkdir(stuck);
  await symlink(loop, loop);
  const logged = service.logLines.length;
  await sweepLater(worker, 31 * minuteMs);
  expect(await readdir(dirname(stuck))).toEqual([basename(stuck)]);
  const lines = service.logLines.slice(logged);
  expect(lines.filter((line) => line.includes('was not removed yet') && line.includes(basename(stuck)))).toHaveLength(
    1,
  );
  await Promise.all([rm(stuck, { recursive: true }), rm(loop)]);
});

test("decoded audio of attempts that are over → removed; of the running one and what is nobody's → kept", async () => {
  const session = await queueSession(service.db, account.id);
  const over = await claimSession(service.db, session);
  const running = await claimSession(service.db, session);
  const ofNobody = { accountId: account.id, sessionId: randomUUIDv7(), attempt: 1 };
  const { workFolder } = worker;
  for (const attempt of [over, running, ofNobody]) {
    await writeFile(workFolder.path(attempt), 'samples');
    // A chunk of it, whose process died before it had removed the name.
    await writeFile(`${workFolder.path(attempt)}.${randomUUID()}`, 'samples');
  }
  const strange = ['notes.txt', 'a.b.c'];
  for (const name of strange) await writeFile(join(service.dataDir, 'work', name), 'not ours');
  const attempts = async () => (await Array.fromAsync(workFolder.files())).flatMap(({ attempt }) => attempt ?? []);
  await removeWorkOfEndedAttempts(worker);
  // A chunk may be one that is being opened just now.
  expect(await attempts()).toEqual([running, running]);
  expect(await readdir(join(service.dataDir, 'work'))).toEqual(expect.arrayContaining(strange));
  for (const name of strange) await rm(join(service.dataDir, 'work', name));
  await eraseSession(service, account.id, session.id);
  await removeWorkOfEndedAttempts(worker);
  expect(await attempts()).toEqual([]);
});

test('idempotency records → deleted after 24 hours', async () => {
  const { sessionId, jobId } = await uploadTone();
  const ids = { account_id: account.id, session_id: sessionId, job_id: jobId };
  for (const key of ['young', 'old']) {
    await inTransaction(service.db, (trx) =>
      insertIdempotencyRecord(trx, { ...ids, key, fingerprint: Buffer.alloc(32) }),
    );
  }
  await sql`update idempotency set created_at = now() - interval '24 hours' where key = 'old'`.execute(service.db);
  await sweep(worker);
  const left = await service.db.selectFrom('idempotency').select('key').execute();
  expect(left).toEqual([{ key: 'young' }]);
});

test('one step that fails → the others are done all the same', async () => {
  const session = await queueSession(service.db, account.id, { reservedMs: 7_000 });
  await writeAudio(session.id);
  await finishSession(service.db, session, await claimSession(service.db, session));
  const broken = { ...worker, queue: undefined as unknown as WorkerContext['queue'] };
  const { sessionId } = await uploadTone();
  await sql`delete from pgboss.job where data->>'sessionId' = ${sessionId}`.execute(service.db);
  await sweep(broken);
  expect(await exists(session.id)).toBe(false);
  expect(await jobsOf(service, sessionId)).toEqual([]);
  await sweep(worker);
  expect(await jobsOf(service, sessionId)).toHaveLength(1);
});
