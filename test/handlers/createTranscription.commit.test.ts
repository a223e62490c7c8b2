import { committed, received } from '../rig/points.ts';
import { startRelay } from '../support/faults/relay.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { useService } from '../support/service/use-service.ts';
import { expectNothingLeft, tone, traces } from '../support/uploads/uploads.ts';
import type { Point } from '../rig/points.ts';
import type { TestAccount } from '../support/service/accounts.ts';

/** Looks on, with a connection of its own. */
const observer = await useService();
const relay = await startRelay(observer.databaseUrl);
const service = await useService({ beside: observer, env: { DATABASE_URL: relay.url } });
const audio = await tone(1_000);

const beforeCommit = received.at(-1)!;
const breakNext = (point: Point) => relay.watch(point, 1, (cut) => cut());

const send = (account: TestAccount) =>
  service.post('/v1/transcriptions', account.key).set('Idempotency-Key', 'k').attach('file', audio, 'a.wav');

test('the connection breaks before the COMMIT is sent → 503, the file stays, a retry makes the session', async () => {
  const account = await makeAccount(observer.db);
  breakNext(beforeCommit);
  const { body, headers } = await send(account).expect(503);
  expect(body).toMatchObject({ code: 'unavailable', retryAfterSeconds: Number(headers['retry-after']) });
  const left = await traces(observer, account);
  expect(left).toMatchObject({ sessions: 0, jobs: 0, records: 0, reservedMs: 0, incoming: [] });
  expect(left.stored).toHaveLength(1);
  const retry = await send(account).expect(202);
  expect(retry.headers).not.toHaveProperty('idempotency-replayed');
  expect(await traces(observer, account)).toMatchObject({ sessions: 1, jobs: 1, reservedMs: 1_000 });
});

test('the connection breaks after the COMMIT → 503, session and file are there, a retry gives that session', async () => {
  const account = await makeAccount(observer.db);
  breakNext(committed);
  const { body, headers } = await send(account).expect(503);
  expect(body).toMatchObject({ code: 'unavailable', retryAfterSeconds: Number(headers['retry-after']) });
  const left = await traces(observer, account);
  expect(left).toMatchObject({ sessions: 1, jobs: 1, records: 1, reservedMs: 1_000, incoming: [] });
  const retry = await send(account).expect(202);
  expect(left.stored).toEqual([retry.body.sessionId]);
  expect(retry.headers).toMatchObject({ 'idempotency-replayed': 'true' });
  await expectNothingLeft(observer, account, left);
});
