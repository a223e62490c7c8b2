/** Thousands of clients that wait cost a handful of statements: to begin, to look again, to be told. */
import { sql } from 'kysely';
import { isDatabaseAway } from '../../../../db/connection/database-errors.ts';
import { openDatabase } from '../../../../db/connection/database.ts';
import { SessionWaits } from '../../../../src/api/reads/waits.ts';
import { makeAccount } from '../../../support/service/accounts.ts';
import { countStatements } from '../../../support/service/counted-statements.ts';
import { startRelay } from '../../../support/faults/relay.ts';
import { useAccount, useService } from '../../../support/service/use-service.ts';
import { makeSession } from '../../../support/service/sessions.ts';
import { until } from '../../../support/until.ts';
import { jest } from '../../../support/run/jest.ts';
import { holdTheClock } from '../../../support/faults/held-clock.ts';
import type { Db } from '../../../../db/connection/database.ts';

const many = 3_000;
/** A database that can not be reached: nobody listens. */
const nowhere = 'postgres://nobody@127.0.0.1:1/none';
const noSignal = new AbortController().signal;

const service = await useService();
const account = await useAccount(service);

const started: SessionWaits[] = [];
// Nobody looks again before this clock moves.
beforeEach(() => holdTheClock('timeouts', 'intervals', 'performance'));
afterEach(async () => {
  jest.useRealTimers();
  await Promise.all(started.splice(0).map((waits) => waits.stop()));
});

function listening(db: Db): SessionWaits {
  const waits = new SessionWaits(db, service.databaseUrl, service.log);
  started.push(waits);
  return waits;
}

async function manySessions(): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    insert into sessions (account_id, id, job_id, queue_job_id, status, title, max_audio_ms, reserved_ms, attempts_left, attempt,
      started_at)
    select ${account.id}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'processing', 'one of many', 1, 0, 1, 1, now()
    from generate_series(1, ${many}) returning id`.execute(service.db);
  return rows.map(({ id }) => id);
}

/** All in one transaction, which tells of each of them. */
const endAll = () =>
  sql`with ended as (
      update sessions set status = 'failed', error_code = 'canceled', completed_at = now()
      where account_id = ${account.id} and status = 'processing' returning id
    )
    select pg_notify('session_final', id::text) from ended`.execute(service.db);

const waitForAll = (waits: SessionWaits, ids: string[], seconds: number) =>
  ids.map((id) => waits.untilFinal(account.id, id, seconds, noSignal));

const statuses = async (answers: ReturnType<typeof waitForAll>) =>
  new Set((await Promise.all(answers)).map((session) => session?.status));

test('thousands of sessions end while their clients wait → all woken, by a handful of statements', async () => {
  const ids = await manySessions();
  const { db, count } = countStatements(service.db);
  const waits = listening(db);
  await waits.start();
  const answers = waitForAll(waits, ids, 30);
  await until(() => count() >= 3);
  await endAll();
  expect(await statuses(answers)).toEqual(new Set(['failed']));
  expect(count()).toBeLessThan(60);
});

test('nobody tells of thousands of sessions → found by looking again after 5 s, by a handful of statements', async () => {
  const ids = await manySessions();
  const { db, count } = countStatements(service.db);
  const left = countStatements(service.db);
  const leaving = new AbortController();
  const leavers = new SessionWaits(left.db, nowhere, service.log);
  const gone = ids.map((id) => leavers.untilFinal(account.id, id, 30, leaving.signal));
  leaving.abort();
  await Promise.all(gone);
  const countWhenTheyLeft = left.count();
  const answers = waitForAll(new SessionWaits(db, nowhere, service.log), ids, 30);
  await until(() => count() >= 3);
  await endAll();
  jest.advanceTimersByTime(5_000);
  expect(await statuses(answers)).toEqual(new Set(['failed']));
  expect(count()).toBeLessThan(60);
  // Who left before is not looked for.
  expect(left.count()).toBe(countWhenTheyLeft);
});

test('thousands of clients whose time is over → each session as it stands, by a handful of statements', async () => {
  const ids = await manySessions();
  const { db, count } = countStatements(service.db);
  const answers = waitForAll(new SessionWaits(db, nowhere, service.log), ids, 1);
  await until(() => count() >= 3);
  jest.advanceTimersByTime(1_000);
  expect(await statuses(answers)).toEqual(new Set(['processing']));
  expect(count()).toBeLessThan(60);
  await endAll();
});

test('the owner waits and others ask for the same session → they learn at once that they have none', async () => {
  const { id } = await makeSession(service.db, account.id, { status: 'processing' });
  const stranger = await makeAccount(service.db);
  const waits = new SessionWaits(service.db, nowhere, service.log);
  const owner = waits.untilFinal(account.id, id, 2, noSignal);
  const others = Array.from({ length: 100 }, () => waits.untilFinal(stranger.id, id, 30, noSignal));
  expect(new Set(await Promise.all(others))).toEqual(new Set([undefined]));
  jest.advanceTimersByTime(2_000);
  expect((await owner)?.status).toBe('processing');
});

test('the database is away when a client is told → it waits on; away from the beginning → the error', async () => {
  const relay = await startRelay(service.databaseUrl);
  // One connection, so that what was asked first is answered first.
  const away = openDatabase(relay.url, () => {}, { maxConnections: 1 });
  try {
    const { id } = await makeSession(service.db, account.id, { status: 'processing' });
    const { db, count } = countStatements(away.db);
    const waits = listening(db);
    await waits.start();
    const waiting = waits.untilFinal(account.id, id, 30, noSignal);
    await until(() => count() === 1);
    await waits.untilFinal(account.id, id, 0, noSignal);
    relay.cut();
    const error: unknown = await waits.untilFinal(account.id, id, 30, noSignal).catch((reason: unknown) => reason);
    expect(isDatabaseAway(error)).toBe(true);
    const before = count();
    await endAll();
    jest.advanceTimersByTime(5_000);
    await until(() => count() > before);
    await relay.mend();
    let status: string | undefined;
    void waiting.then((session) => (status = session?.status));
    await until(() => {
      jest.advanceTimersByTime(100);
      return status;
    });
    expect(status).toBe('failed');
  } finally {
    await away.close();
  }
});
