/** GET …/transcript?wait=: answered when the session ends, when the time is over, when the client or the server goes. */
import { Agent, get as httpGet } from 'node:http';
import { sql } from 'kysely';
import { deleteSession } from '../../../../db/sessions/states.ts';
import { inTransaction } from '../../../../db/transaction.ts';
import { SessionWaits } from '../../../../src/api/reads/waits.ts';
import { failSession } from '../../../../src/sessions/endings.ts';
import { countStatements } from '../../../support/service/counted-statements.ts';
import { startTestService } from '../../../support/service/service.ts';
import { useAccount, useService } from '../../../support/service/use-service.ts';
import { claimSession, finishSession, makeSession, queueSession } from '../../../support/service/sessions.ts';
import { until } from '../../../support/until.ts';
import type { Response } from 'supertest';
import type { Attempt } from '../../../../db/sessions/attempts.ts';
import type { TestSession } from '../../../support/service/sessions.ts';

/** A database that can not be reached: nobody listens. */
const nowhere = 'postgres://nobody@127.0.0.1:1/none';

const service = useService();
const account = useAccount(service, { limits: { requests_per_minute: 100_000 } });

async function timed(request: PromiseLike<Response>): Promise<{ ms: number; response: Response }> {
  const began = performance.now();
  const response = await request;
  return { ms: performance.now() - began, response };
}

const wait = (id: string, seconds: number) =>
  timed(service.get(`/v1/sessions/${id}/transcript?wait=${seconds}`, account.key));

async function running(): Promise<{ session: TestSession; attempt: Attempt }> {
  const session = await queueSession(service.db, account.id);
  return { session, attempt: await claimSession(service.db, session) };
}

const countOfRequests = async () => {
  const { rows } = await sql<{ used: number }>`
    select used from allowance where account_id = ${account.id}`.execute(service.db);
  return rows[0]?.used ?? 0;
};

/** Requests that were counted and then read are registered as waiting. */
async function waiting(count: number, send: () => void): Promise<void> {
  const before = await countOfRequests();
  send();
  await until(async () => {
    const used = await countOfRequests();
    return used < before || used - before >= count;
  });
}

const listeners = async () => {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where datname = current_database() and query = 'listen session_final'`.execute(service.db);
  return rows.map(({ pid }) => pid);
};

test.each(['completed', 'failed'] as const)('a session that is %s already → answered at once', async (status) => {
  const { id } = await makeSession(service.db, account.id, { status });
  const { ms, response } = await wait(id, 30);
  expect(response.body.status).toBe(status);
  expect(ms).toBeLessThan(1_000);
});

test('a session that does not end in time → 200 as it stands, after the time', async () => {
  const { session } = await running();
  const { ms, response } = await wait(session.id, 1);
  expect(response.status).toBe(200);
  expect(response.body).toMatchObject({ status: 'processing', segments: [] });
  expect(response.headers['retry-after']).toBe('2');
  expect(ms).toBeGreaterThanOrEqual(990);
  expect(ms).toBeLessThan(3_000);
});

test('an unchanged tag of a running session → 304 after the time, not before', async () => {
  const { session } = await running();
  const { headers } = await service.get(`/v1/sessions/${session.id}/transcript`, account.key).expect(200);
  const { ms } = await timed(
    service
      .get(`/v1/sessions/${session.id}/transcript?wait=1`, account.key)
      .set('If-None-Match', String(headers.etag))
      .expect(304),
  );
  expect(ms).toBeGreaterThanOrEqual(990);
});

test('the tag of the final state → 304 at once', async () => {
  const { id } = await makeSession(service.db, account.id, { status: 'completed' });
  const { headers } = await service.get(`/v1/sessions/${id}/transcript`, account.key).expect(200);
  const { ms } = await timed(
    service
      .get(`/v1/sessions/${id}/transcript?wait=30`, account.key)
      .set('If-None-Match', String(headers.etag))
      .expect(304),
  );
  expect(ms).toBeLessThan(1_000);
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
    const ended = performance.now();
    await end(session, attempt);
    const { response } = await answer!;
    expect(performance.now() - ended).toBeLessThan(1_500);
    expect(response.status).toBe(status);
    expect(response.body).toMatchObject(body);
  });

  test('its id written in upper case → woken all the same', async () => {
    const { session, attempt } = await running();
    let answer: ReturnType<typeof wait>;
    await waiting(1, () => (answer = wait(session.id.toUpperCase(), 30)));
    const ended = performance.now();
    await finishSession(service.db, session, attempt);
    expect((await answer!).response.body.status).toBe('completed');
    expect(performance.now() - ended).toBeLessThan(1_500);
  });

  test('captions → 200 instead of 409', async () => {
    const { session, attempt } = await running();
    let answer: Promise<Response>;
    await waiting(1, () => {
      answer = service
        .get(`/v1/sessions/${session.id}/transcript?wait=30`, account.key)
        .set('Accept', 'text/plain')
        .then((response) => response);
    });
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
  const statuses = (await Promise.all(answers)).map(({ response }) => `${response.status} ${response.body.status}`);
  expect(new Set(statuses)).toEqual(new Set(['200 completed']));
});

test('the listening connection is killed → listened to again within a second, and found by looking then', async () => {
  const { session, attempt } = await running();
  let answer: ReturnType<typeof wait>;
  await waiting(1, () => (answer = wait(session.id, 20)));
  const [pid] = await listeners();
  await sql`select pg_terminate_backend(${pid})`.execute(service.db);
  await until(async () => (await listeners()).length === 0);
  await finishSession(service.db, session, attempt);
  const { ms, response } = await answer!;
  expect(response.body.status).toBe('completed');
  // Before all that wait are looked at again anyway, 5 s after the first of them came.
  expect(ms).toBeLessThan(4_000);
  await until(async () => (await listeners()).length === 1);
  expect(await listeners()).not.toContain(pid);
});

test('the client leaves after its session was read → its wait ends at once', async () => {
  const { session } = await running();
  const { db, count } = countStatements(service.db);
  const waits = new SessionWaits(db, nowhere, service.log);
  const leaving = new AbortController();
  const began = performance.now();
  const answered = waits.untilFinal(account.id, session.id, 30, leaving.signal);
  await until(() => count() === 1);
  // Whoever asks now is read later.
  await waits.untilFinal(account.id, session.id, 0, leaving.signal);
  leaving.abort();
  expect((await answered)!.status).toBe('processing');
  expect(performance.now() - began).toBeLessThan(4_000);
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
  await until(() => service.logLines.slice(from).some((line) => line.includes('"status":"none"')), Boolean, 2_000);
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
  const began = performance.now();
  await stopping.stop();
  expect(performance.now() - began).toBeLessThan(5_000);
  const response = await answer!;
  expect(response.status).toBe(200);
  expect(response.body.status).toBe('processing');
});
