import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { makeAccount } from '../support/service/accounts.ts';
import { useService } from '../support/service/use-service.ts';
import { expectNothingLeft, tone, traces } from '../support/uploads/uploads.ts';
import type { TestAccount } from '../support/service/accounts.ts';

const service = await useService();
let [audio, other]: Buffer[] = [];
beforeAll(async () => {
  [audio, other] = [await tone(1_000), await tone(1_000, 30)];
});

interface Repeat {
  key?: string;
  bytes?: Buffer;
  name?: string;
  fields?: Record<string, string>;
}
const send = (account: TestAccount, { key = 'key 1', bytes = audio!, name = 'a.wav', fields = {} }: Repeat = {}) => {
  const request = service.post('/v1/transcriptions', account.key).set('Idempotency-Key', key);
  for (const [field, value] of Object.entries(fields)) void request.field(field, value);
  return request.attach('file', bytes, name);
};

test.each<[string, Repeat]>([
  ['the same file', {}],
  ['the same file under another name', { name: 'b.mp3' }],
  ['another durationMs, which is only a hint', { fields: { durationMs: '1001' } }],
])('the same key with %s → the first answer again, marked, and one session', async (_, repeat) => {
  const account = await makeAccount(service.db);
  const first = await send(account).expect(202);
  expect(first.headers).not.toHaveProperty('idempotency-replayed');
  const after = await traces(service, account);
  const second = await send(account, repeat).expect(202);
  expect(second.body).toEqual(first.body);
  expect(second.headers).toMatchObject({ 'idempotency-replayed': 'true', location: first.headers.location });
  expect(after).toMatchObject({ sessions: 1, jobs: 1, records: 1, reservedMs: 1_000, incoming: [] });
  await expectNothingLeft(service, account, after);
});

test.each([
  ['other bytes', {}, { bytes: 'other' }],
  ['a title', {}, { fields: { title: 'a' } }],
  ['another title', { fields: { title: 'a' } }, { fields: { title: 'b' } }],
  ['no title any more', { fields: { title: 'a' } }, {}],
])('the same key with %s → 422 idempotency_key_reused, nothing is added', async (_, first, repeat) => {
  const account = await makeAccount(service.db);
  await send(account, first).expect(202);
  const after = await traces(service, account);
  const response = await send(account, { ...repeat, bytes: 'bytes' in repeat ? other! : audio! });
  expect([response.status, response.body.code]).toEqual([422, 'idempotency_key_reused']);
  expect(response.headers).not.toHaveProperty('location');
  await expectNothingLeft(service, account, after);
});

test('the same key of another account → an upload of its own', async () => {
  const [one, two] = [await makeAccount(service.db), await makeAccount(service.db)];
  const first = await send(one).expect(202);
  const second = await send(two).expect(202);
  expect(second.body.sessionId).not.toBe(first.body.sessionId);
  expect(second.headers).not.toHaveProperty('idempotency-replayed');
  expect(await readdir(join(service.dataDir, 'audio', two.id))).toEqual([second.body.sessionId]);
});

test('ten uploads with one key at once → one session, ten times the same answer', async () => {
  const account = await makeAccount(service.db, { balanceMs: 1_500 });
  const responses = await Promise.all(Array.from({ length: 10 }, () => send(account)));
  expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(202));
  expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
  expect(responses.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(9);
  const one = { ...(await traces(service, account)), stored: [responses[0]!.body.sessionId as string], incoming: [] };
  expect(one).toMatchObject({ sessions: 1, jobs: 1, records: 1, reservedMs: 1_000 });
  await expectNothingLeft(service, account, one);
});

test('two different files with one key at once → one is accepted, the other is 422', async () => {
  const account = await makeAccount(service.db);
  const responses = await Promise.all([send(account), send(account, { bytes: other! })]);
  expect(responses.map(({ status }) => status).sort()).toEqual([202, 422]);
  expect(await traces(service, account)).toMatchObject({ sessions: 1, jobs: 1, records: 1, reservedMs: 1_000 });
});

test('a repeat when the balance is used up and the queue full → accepted; an upload of its own is not', async () => {
  const account = await makeAccount(service.db, { balanceMs: 1_000, limits: { queued_sessions: 1 } });
  const first = await send(account, { fields: { durationMs: '1000' } }).expect(202);
  const repeat = await send(account, { fields: { durationMs: '1000' } }).expect(202);
  expect(repeat.body).toEqual(first.body);
  const { body } = await send(account, { key: 'key 2' }).expect(429);
  expect(body.code).toBe('too_many_queued');
});

test('the same key after 24 hours → a session of its own', async () => {
  const account = await makeAccount(service.db);
  const first = await send(account).expect(202);
  const age = (time: string) =>
    sql`update idempotency set created_at = now() - ${time}::interval where account_id = ${account.id}`.execute(
      service.db,
    );
  await age('23 hours 59 minutes');
  expect((await send(account).expect(202)).body).toEqual(first.body);
  await age('24 hours');
  const fresh = await send(account, { bytes: other! }).expect(202);
  expect(fresh.body.sessionId).not.toBe(first.body.sessionId);
  expect(fresh.headers).not.toHaveProperty('idempotency-replayed');
  expect((await send(account, { bytes: other! }).expect(202)).body).toEqual(fresh.body);
  expect(await traces(service, account)).toMatchObject({ sessions: 2, jobs: 2, records: 1 });
});

test('a refused upload → its key is free for the next try', async () => {
  const account = await makeAccount(service.db);
  await send(account, { bytes: Buffer.from('not audio') }).expect(415);
  const { headers } = await send(account).expect(202);
  expect(headers).not.toHaveProperty('idempotency-replayed');
});

test.each(['k', 'k'.repeat(255), '"~ !#$%&\'()*+,-./:;<=>?@[]^_`{|}'])('the key %s → taken as it is', async (key) => {
  const account = await makeAccount(service.db);
  await send(account, { key }).expect(202);
  const { rows } = await sql<{ key: string }>`select key from idempotency where account_id = ${account.id}`.execute(
    service.db,
  );
  expect(rows).toEqual([{ key }]);
});
