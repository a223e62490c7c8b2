/** GET …/transcript?wait=: answered when the session ends, when the time is over, when the client goes. */
import { sql } from 'kysely';
import { deleteSession } from '../../../../db/sessions/states.ts';
import { inTransaction } from '../../../../db/connection/transaction.ts';
import { SessionReads } from '../../../../src/api/reads/session-reads.ts';
import { SessionWaits } from '../../../../src/api/reads/waits.ts';
import { failSession } from '../../../../src/sessions/completion.ts';
import { countStatements } from '../../../support/service/counted-statements.ts';
import { useAccount, useService } from '../../../support/service/use-service.ts';
import { claimSession, finishSession, makeSession, queueSession } from '../../../support/service/sessions.ts';
import { until } from '../../../support/until.ts';
import { jest } from '../../../support/run/jest.ts';
import { holdTheClock } from '../../../support/faults/held-clock.ts';
import type { Response } from 'supertest';
import type { Attempt } from '../../../../db/sessions/attempts.ts';
import type { TestSession } from '../../../support/service/sessions.ts';

/** A database that can not be reached: nobody listens. */
const nowhere = 'postgres://nobody@127.0.0.1:1/none';

// No wait is over, and nobody looks again, before this clock moves.
beforeAll(() => holdTheClock('timeouts', 'intervals', 'performance'));
const service = await useService();
const account = await useAccount(service, { limits: { requests_per_minute: 100_000 } });

const wait = (id: string, seconds: number, headers: Record<string, string> = {}): Promise<Response> =>
  service
    .get(`/v1/sessions/${id}/transcript?wait=${seconds}`, account.key)
    .set(headers)
    .then((response) => response);

/** The answer to a request that is held until the clock moves. */
async function afterItsTime(send: () => Promise<Response>): Promise<Response> {
  let answer: Response | undefined;
  await waiting(1, () => void send().then((response) => (answer = response)));
  // Time enough for an answer that is not held.
  await service.get('/v1/openapi.json').expect(200);
  expect(answer).toBeUndefined();
  return until(
    () => {
      jest.advanceTimersByTime(1_000);
      return answer!;
    },
    (response) => response !== undefined,
  );
}

async function running(): Promise<{ session: TestSession; attempt: Attempt }> {
  const session = await queueSession(service.db, account.id);
  return { session, attempt: await claimSession(service.db, session) };
}

/** Requests of the account in the current minute, and which minute that is. */
const counted = async () => {
  const { rows } = await sql<{ window_number: string; used: number }>`
    select window_number::text, used from allowance where account_id = ${account.id}`.execute(service.db);
  return rows[0] ?? { window_number: '', used: 0 };
};

/** Requests that were counted and then read are registered as waiting; only a counted one turns the minute. */
async function waiting(count: number, send: () => void): Promise<void> {
  const before = await counted();
  send();
  await until(async () => {
    const now = await counted();
    return now.window_number !== before.window_number || now.used - before.used >= count;
  });
}

const listeners = async () => {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where datname = current_database() and application_name = 'transcription listens'`.execute(service.db);
  return rows.map(({ pid }) => pid);
};

test.each(['completed', 'failed'] as const)('a session that is %s already → answered at once', async (status) => {
  const { id } = await makeSession(service.db, account.id, { status });
  expect((await wait(id, 30)).body.status).toBe(status);
});

test('a session that does not end in time → 200 as it stands, after the time', async () => {
  const { session } = await running();
  const response = await afterItsTime(() => wait(session.id, 1));
  expect(response.status).toBe(200);
  expect(response.body).toMatchObject({ status: 'processing', segments: [] });
  expect(response.headers['retry-after']).toBe('2');
});

test('an unchanged tag of a running session → 304 after the time, not before', async () => {
  const { session } = await running();
  const { headers } = await service.get(`/v1/sessions/${session.id}/transcript`, account.key).expect(200);
  const response = await afterItsTime(() => wait(session.id, 1, { 'If-None-Match': String(headers.etag) }));
  expect(response.status).toBe(304);
});

describe('a session that ends while its client waits → woken by the transaction', () => {
  test.each<[string, number, object, (session: TestSession, attempt: Attempt) => Promise<unknown>]>([
    ['completes', 200, { status: 'completed' }, (session, attempt) => finishSession(service.db, session, attempt)],
    [
      'fails',
      200,
      { status: 'failed', error: { code: 'timed_out' } },
      ({ id }) => inTransaction(service.db, (trx) => failSession(trx, account.id, id, 'timed_out')),
    ],
    [
      'is deleted',
      404,
      { code: 'session_not_found' },
      ({ id }) => inTransaction(service.db, (trx) => deleteSession(trx, account.id, id)),
    ],
  ])('%s → %i', async (_, status, body, end) => {
    const { session, attempt } = await running();
    let answer: ReturnType<typeof wait>;
    await waiting(1, () => (answer = wait(session.id, 30)));
    await end(session, attempt);
    const response = await answer!;
    expect(response.status).toBe(status);
    expect(response.body).toMatchObject(body);
  });
});

test('100 clients that wait → one listening connection, all woken, other requests still answered', async () => {
  const { session, attempt } = await running();
  const answers: ReturnType<typeof wait>[] = [];
  await waiting(100, () => answers.push(...Array.from({ length: 100 }, () => wait(session.id, 30))));
  expect(await listeners()).toHaveLength(1);
  await service.get('/v1/sessions?limit=1', account.key).expect(200);
  await finishSession(service.db, session, attempt);
  const statuses = (await Promise.all(answers)).map(({ status, body }) => `${status} ${body.status}`);
  expect(new Set(statuses)).toEqual(new Set(['200 completed']));
});

test('the listening connection is killed → listened to again within a second, and found by looking then', async () => {
  const { session, attempt } = await running();
  let answer: ReturnType<typeof wait>;
  await waiting(1, () => (answer = wait(session.id, 20)));
  const [pid] = await listeners();
  await sql`select pg_terminate_backend(${pid})`.execute(service.db);
  await until(() => service.logLines.some((line) => line.includes('the listening connection broke')));
  await until(async () => (await listeners()).length === 0);
  await finishSession(service.db, session, attempt);
  // Before all that wait are looked at again anyway, 5 s after the first of them came.
  jest.advanceTimersByTime(1_000);
  expect((await answer!).body.status).toBe('completed');
  await until(async () => (await listeners()).length === 1);
  expect(await listeners()).not.toContain(pid);
});

test('the client leaves after its session was read → its wait ends at once', async () => {
  const { session } = await running();
  const { db, count } = countStatements(service.db);
  const waits = new SessionWaits(db, new SessionReads(db), nowhere, service.log);
  const leaving = new AbortController();
  const answered = waits.untilFinal(account.id, session.id, 30, leaving.signal);
  await until(() => count() === 1);
  // Whoever asks now is read later.
  await waits.untilFinal(account.id, session.id, 0, leaving.signal);
  leaving.abort();
  expect((await answered)!.status).toBe('processing');
});

test('nobody tells of many sessions → all found by looking again after 5 s, by one statement', async () => {
  const sessions = await Promise.all(Array.from({ length: 50 }, () => queueSession(service.db, account.id)));
  const { db, count } = countStatements(service.db);
  const waits = new SessionWaits(db, new SessionReads(db), nowhere, service.log);
  const { signal } = new AbortController();
  const answers = sessions.map(({ id }) => waits.untilFinal(account.id, id, 30, signal));
  await until(() => count() === 50);
  for (const { id } of sessions) await inTransaction(service.db, (trx) => failSession(trx, account.id, id, 'canceled'));
  jest.advanceTimersByTime(5_000);
  expect((await Promise.all(answers)).map((session) => session?.status)).toEqual(Array(50).fill('failed'));
  // A first look may come late and see the end by itself.
  expect(count()).toBeLessThanOrEqual(50 + 1 + 50);
});
