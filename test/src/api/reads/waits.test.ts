/** GET …/transcript?wait=: answered when the session ends, when the time is over, when the client or the server goes. */
import { Agent, get as httpGet } from 'node:http';
import { sql } from 'kysely';
import { deleteSession } from '../../../../db/sessions/states.ts';
import { isDatabaseUnavailable } from '../../../../db/connection/database-errors.ts';
import { openDatabase } from '../../../../db/connection/database.ts';
import { inTransaction } from '../../../../db/connection/transaction.ts';
import { SessionReads } from '../../../../src/api/reads/session-reads.ts';
import { SessionWaits } from '../../../../src/api/reads/waits.ts';
import { failSession } from '../../../../src/sessions/completion.ts';
import { countStatements } from '../../../support/service/counted-statements.ts';
import { startRelay } from '../../../support/faults/relay.ts';
import { startTestService } from '../../../support/service/service.ts';
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

  test('its id written in upper case → woken all the same', async () => {
    const { session, attempt } = await running();
    let answer: ReturnType<typeof wait>;
    await waiting(1, () => (answer = wait(session.id.toUpperCase(), 30)));
    await finishSession(service.db, session, attempt);
    expect((await answer!).body.status).toBe('completed');
  });

  test('captions → 200 instead of 409', async () => {
    const { session, attempt } = await running();
    let answer: ReturnType<typeof wait>;
    await waiting(1, () => (answer = wait(session.id, 30, { Accept: 'text/plain' })));
    await finishSession(service.db, session, attempt);
    expect((await answer!).text).toBe('good morning\nbegin\n');
  });
});

test('1,000 clients that wait → one listening connection, all woken, other requests still answered', async () => {
  const { session, attempt } = await running();
  const answers: ReturnType<typeof wait>[] = [];
  for (let batch = 0; batch < 10; batch += 1) {
    await waiting(100, () => answers.push(...Array.from({ length: 100 }, () => wait(session.id, 30))));
  }
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

test('the client of a request leaves → the request is over for the service as soon as its connection is', async () => {
  const { session } = await running();
  const from = service.logLines.length;
  const agent = new Agent();
  await waiting(1, () => {
    const headers = { Authorization: `Bearer ${account.key}` };
    httpGet(`${service.url}/v1/sessions/${session.id}/transcript?wait=30`, { agent, headers }).on('error', () => {});
  });
  agent.destroy();
  await until(() => service.logLines.slice(from).some((line) => line.includes('"status":"none"')));
  expect(service.logLines.slice(from).join('')).not.toContain('"level":50');
});

test('the server stops → who waits is answered as it stands, and the stop does not wait for the time', async () => {
  const stopping = await startTestService({ beside: service });
  const { session } = await running();
  let answer: Promise<Response>;
  await waiting(1, () => {
    answer = stopping
      .get(`/v1/sessions/${session.id}/transcript?wait=30`, account.key)
      .set('Connection', 'keep-alive')
      .then((response) => response);
  });
  let isStopped = false;
  const stopped = stopping.stop().finally(() => (isStopped = true));
  const response = await answer!;
  expect(response.status).toBe(200);
  expect(response.body.status).toBe('processing');
  await until(() => {
    // Connections that idle are looked for now and then.
    jest.advanceTimersByTime(100);
    return isStopped;
  });
  await stopped;
});

test('nobody tells of thousands of sessions → all found by looking again after 5 s, by one statement', async () => {
  const { rows } = await sql<{ id: string }>`
    insert into sessions (account_id, id, job_id, queue_job_id, status, title, max_audio_ms, reserved_ms, attempts_left, attempt,
      started_at)
    select ${account.id}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'processing', 'one of many', 1, 0, 1, 1, now()
    from generate_series(1, 3000) returning id`.execute(service.db);
  const { db, count } = countStatements(service.db);
  const waits = new SessionWaits(db, new SessionReads(db), nowhere, service.log);
  const [leaving, staying] = [new AbortController(), new AbortController()];
  const wait = ({ signal }: AbortController) => rows.map(({ id }) => waits.untilFinal(account.id, id, 30, signal));
  const gone = wait(leaving);
  leaving.abort();
  await Promise.all(gone);
  const answers = wait(staying);
  await until(() => count() === 6_000);
  await endAll();
  jest.advanceTimersByTime(5_000);
  expect(new Set((await Promise.all(answers)).map((session) => session?.status))).toEqual(new Set(['failed']));
  expect(count()).toBe(6_000 + 1 + 3_000);
});

/** Without a word to those who wait. */
const endAll = () =>
  sql`update sessions set status = 'failed', error_code = 'canceled', completed_at = now(), reserved_ms = 0
    where account_id = ${account.id} and status = 'processing' and title = 'one of many'`.execute(service.db);

test('the database is away when a client is told → it waits on; away from the beginning → the error', async () => {
  const relay = await startRelay(service.databaseUrl);
  // One connection, so that what was asked first is answered first.
  const away = openDatabase(relay.url, () => {}, { maxConnections: 1 });
  try {
    const { session, attempt } = await running();
    const { id } = session;
    const { db, count } = countStatements(away.db);
    const waits = new SessionWaits(db, new SessionReads(db), service.databaseUrl, service.log);
    await waits.start();
    const waiting = waits.untilFinal(account.id, id, 30, new AbortController().signal);
    await until(() => count() === 1);
    await waits.untilFinal(account.id, id, 0, new AbortController().signal);
    relay.cut();
    const error: unknown = await waits
      .untilFinal(account.id, id, 30, new AbortController().signal)
      .catch((reason: unknown) => reason);
    expect(isDatabaseUnavailable(error)).toBe(true);
    const before = count();
    await finishSession(service.db, session, attempt);
    jest.advanceTimersByTime(5_000);
    await until(() => count() > before);
    await relay.mend();
    let status: string | undefined;
    void waiting.then((session) => (status = session?.status));
    await until(() => {
      jest.advanceTimersByTime(100);
      return status;
    });
    expect(status).toBe('completed');
    await waits.stop();
  } finally {
    await away.close();
  }
});
