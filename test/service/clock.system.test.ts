/** The clocks of the service and of PostgreSQL jump by hours, forward and back, while everything is under way. */
import { globSync } from 'node:fs';
import { chmod, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { openDatabase } from '../../db/connection/database.ts';
import { listLedger } from '../../db/accounts/ledger.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { atEnd } from '../support/at-end.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { expectSound } from '../support/service/audit.ts';
import { clientOf, sessionIn } from '../support/clients/client.ts';
import { startPostgres } from '../rig/postgres.ts';
import { startHelloServer } from '../support/models/hello-server.ts';
import { startProcess } from '../support/service/processes.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { closing, filePart, voice } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';

test('clocks jump 5 h forward and back → nothing lost or charged twice, nobody locked out, no audio swept away', async () => {
  const [dbClock, ownClock] = [await fakeClock(), await fakeClock()];
  const url = await startPostgresBy(dbClock);
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'jump-'));
  const file = join(dataDir, 'voice.wav');
  await writeFile(file, await voice(2_000));
  const hello = await startHelloServer({ held: true });
  const env = {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    WORKER_CONCURRENCY: '4',
    ...hello.env,
    ...ownClock.env,
  };
  const api = await startProcess('start-api', env);
  const worker = await startProcess('start-worker', env);
  const { db, close } = openDatabase(url, () => {});
  atEnd(close);
  const account = await makeAccount(db, { balanceMs: 600_000, limits: { running_jobs: 1 } });
  const patient = await makeAccount(db, { limits: { requests_per_minute: 3 } });
  const [client, limited] = [clientOf(api.url, account.key), clientOf(api.url, patient.key)];
  const session = (id: string) => findSessionRow(db, account.id, id);
  const expectServed = async () => {
    expect((await client.get('/v1/sessions')).status).toBe(200);
    const { headers } = await limited.get('/v1/sessions');
    expect(Number(/t=(\d+)/.exec(headers.ratelimit!)![1])).toBeLessThanOrEqual(60);
  };

  const runs = await client.accepted(file, 'the same key');
  await until(
    () => session(runs),
    (row) => row?.status === 'processing',
  );
  const waits = await client.accepted(file);
  const polling = client.get(`/v1/sessions/${runs}/transcript?wait=20`);
  const body = Buffer.concat([filePart(await voice(2_000)), closing]);
  const slow = new RawUpload(api.port);
  slow.head({ Authorization: `Bearer ${account.key}`, 'Content-Length': body.length }).send(body.subarray(0, 5_000));
  // A minute may end meanwhile: of at most seven, four are of one.
  await until(async () => (await limited.get('/v1/sessions')).status === 429);

  await dbClock.set(5);
  expect((await limited.get('/v1/sessions')).status).toBe(200);
  await expectServed();
  await ownClock.set(5);
  await expectServed();
  const repeated = await client.upload(file, 'the same key');
  expect([sessionIn(repeated), repeated.headers['idempotency-replayed']]).toEqual([runs, 'true']);
  const received = sessionIn(await slow.send(body.subarray(5_000)).answer());

  // An upload is about to commit, and another worker sweeps whose clock makes its file look hours old.
  await sql`insert into idempotency (account_id, key, fingerprint, session_id, job_id, created_at)
    values (${account.id}, 'swept', '', ${runs}, ${runs}, now() - interval '25 hours')`.execute(db);
  const stored = () => readdir(join(dataDir, 'audio', account.id)).then((names) => names.length);
  const before = await stored();
  const second = await inAccountTransaction(db, account.id, async () => {
    const committing = client.upload(file);
    await until(stored, (files) => files === before + 1);
    const sweeper = await startProcess('start-worker', env);
    const records = () => db.selectFrom('idempotency').select('key').where('key', '=', 'swept').execute();
    await until(records, ({ length }) => length === 0);
    return { committing, sweeper };
  });
  const committed = sessionIn(await second.committing);

  expect(await Promise.all([second.sweeper.stop(), worker.stop()])).toEqual([0, 0]);
  expect((await polling).status).toBe(200);
  // What is queued now begins in five hours, as far as the queue knows.
  await dbClock.set(0);
  hello.go();
  await expectServed();
  const last = await startProcess('start-worker', env);
  await ownClock.set(-2);
  await expectServed();
  const after = await client.accepted(file);
  for (const id of [runs, waits, received, committed, after])
    expect(await client.final(id)).toMatchObject({ status: 'completed' });

  const charges = (await listLedger(db, account.id)).filter(({ kind }) => kind === 'charge');
  expect(charges.map((entry) => entry.amount_ms)).toEqual(Array<number>(5).fill(-2_000));
  expect([...api.lines, ...worker.lines, ...last.lines].join('\n')).not.toMatch(/unhandled|uncaught/i);
  expect(await Promise.all([last.stop(), api.stop()])).toEqual([0, 0]);
  await expectSound({ db, dataDir });
});

/** A clock that a test sets: libfaketime stands between a process and the time of the system. Files keep the kernel's time. */
async function fakeClock() {
  const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1');
  if (library === undefined) throw new Error('Install it: apt-get install libfaketime');
  const folder = await mkdtemp(join(process.env.TEST_FOLDER!, 'clock-'));
  await chmod(folder, 0o755);
  const file = join(folder, 'offset');
  /** Whole hours ahead of the real time, or behind it; at once, for those that run already. */
  const set = (hours: number) => writeFile(file, `${hours < 0 ? '' : '+'}${hours}h\n`, { mode: 0o644 });
  await set(0);
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    // As on a real machine: only the time of day jumps.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
  return { env, set };
}

/** A PostgreSQL of the test's own that lives by this clock. @returns its URL */
async function startPostgresBy(clock: { env: Record<string, string> }): Promise<string> {
  // The clock begins behind the change of user: what root shares of it, nobody else may open.
  const env = Object.entries(clock.env).map(([name, value]) => `${name}=${value}`);
  return (await startPostgres(['env', ...env])).url;
}
