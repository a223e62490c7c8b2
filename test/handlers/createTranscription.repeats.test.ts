/** Uploads with an Idempotency-Key: what counts as a repeat, and that it gets the first answer whatever changed since. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { updateAccount } from '../../db/accounts/accounts.ts';
import { fingerprintOf } from '../../handlers/createTranscription.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { useService } from '../support/service/use-service.ts';
import { expectNothingLeft, filePart, form, formType, textPart, tone, traces } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import type { LimitOverrides } from '../../db/schema.ts';
import type { UploadFields } from '../../src/api/uploads/form.ts';
import type { TestAccount } from '../support/service/accounts.ts';
import type { TestService } from '../support/service/service.ts';

const service = await useService();
const fullService = await useService({ beside: service, env: { MIN_FREE_DISK: String(Number.MAX_SAFE_INTEGER) } });
const [audio, other] = [await tone(1_000), await tone(1_000, 30)];
const body = form(filePart(audio), textPart('durationMs', '1000'));

interface Answered {
  status: number;
  body: { code?: string; sessionId?: string };
  replayed: string | null;
  location: string | null;
}

/** Of every character that a key may have, and as long as it may be. */
const longest = '"~ !#$%&\'()*+,-./:;<=>?@[]\\^_`{|}'.padEnd(255, 'k');

async function send(account: TestAccount, key = longest, content = body, to = service): Promise<Answered> {
  const headers = { Authorization: `Bearer ${account.key}`, 'Content-Type': formType, 'Idempotency-Key': key };
  const init = { method: 'POST', headers, body: new Uint8Array(content) };
  const answer = await fetch(`${to.url}/v1/transcriptions`, init);
  const [replayed, location] = ['idempotency-replayed', 'location'].map((name) => answer.headers.get(name)!);
  return { status: answer.status, body: await answer.json(), replayed, location } as Answered;
}

test('the same key with the same file under another name → the first answer again, marked, and one session', async () => {
  const account = await makeAccount(service.db);
  const first = await send(account);
  expect(first).toMatchObject({ status: 202, replayed: null, location: `/v1/sessions/${first.body.sessionId}` });
  const after = await traces(service, account);
  expect(after).toMatchObject({ sessions: 1, jobs: 1, records: 1, reservedMs: 1_000, incoming: [] });
  expect(await send(account, longest, form(filePart(audio, 'b.mp3')))).toEqual({ ...first, replayed: 'true' });
  await expectNothingLeft(service, account, after);
});

test.each([
  ['other bytes', form(filePart(other))],
  ['a title', form(textPart('title', 'a'), filePart(audio))],
])('the same key with %s → 422 idempotency_key_reused, nothing is added', async (_, repeat) => {
  const account = await makeAccount(service.db);
  await send(account);
  const after = await traces(service, account);
  const reused = { status: 422, body: { code: 'idempotency_key_reused' }, location: null };
  expect(await send(account, longest, repeat)).toMatchObject(reused);
  await expectNothingLeft(service, account, after);
});

test('fingerprints: those of old forms stay, hints and order say nothing, all else has its own', () => {
  const file = createHash('sha256').update('audio').digest();
  // Fields of a form, also of one that the contract does not have yet.
  const of = (form: object) => fingerprintOf(file, form as UploadFields).toString('hex');
  expect(of({})).toBe(createHash('sha256').update(file).digest('hex'));
  expect(of({ durationMs: 1 })).toBe(of({}));
  expect(of({ durationMs: 1, title: 'a' })).toBe(of({ durationMs: 2, title: 'a' }));
  expect(of({ title: 'a', keyterms: ['x', 'y'] })).toBe(of({ keyterms: ['x', 'y'], title: 'a' }));
  const forms = [
    ...[{}, { speakers: 1 }, { speakers: 11 }, { title: 'a' }, { title: 'b' }, { reference: 'a' }],
    ...[{ speakers: 1, title: 'a' }, { title: 'a', reference: 'b' }, { title: 'a","reference":"b' }],
    ...[{ keyterms: ['x', 'y'] }, { keyterms: ['y', 'x'] }, { keyterms: ['x,y'] }, { keyterms: [] }],
  ];
  const fingerprints = [...forms.map(of), fingerprintOf(createHash('sha256').digest(), {}).toString('hex')];
  expect(new Set(fingerprints).size).toBe(fingerprints.length);
});

test('ten uploads with one key at once → one session, ten times the same answer', async () => {
  const account = await makeAccount(service.db, { balanceMs: 1_500 });
  const responses = await Promise.all(Array.from({ length: 10 }, () => send(account)));
  expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(202));
  expect(new Set(responses.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
  expect(responses.filter(({ replayed }) => replayed === 'true')).toHaveLength(9);
  const one = { ...(await traces(service, account)), stored: [responses[0]!.body.sessionId!], incoming: [] };
  expect(one).toMatchObject({ sessions: 1, jobs: 1, records: 1, reservedMs: 1_000 });
  await expectNothingLeft(service, account, one);
});

test('two different files with one key at once → one is accepted, the other is 422', async () => {
  const account = await makeAccount(service.db);
  const responses = await Promise.all([send(account), send(account, longest, form(filePart(other)))]);
  expect(responses.map(({ status }) => status).sort()).toEqual([202, 422]);
  expect(await traces(service, account)).toMatchObject({ sessions: 1, jobs: 1, records: 1, reservedMs: 1_000 });
});

test('the same key after 24 hours → a session of its own', async () => {
  const account = await makeAccount(service.db);
  const first = await send(account);
  const age = (time: string) =>
    sql`update idempotency set created_at = now() - ${time}::interval where account_id = ${account.id}`.execute(
      service.db,
    );
  await age('23 hours 59 minutes');
  expect(await send(account)).toEqual({ ...first, replayed: 'true' });
  await age('24 hours');
  const fresh = await send(account, longest, form(filePart(other)));
  expect(fresh.body.sessionId).not.toBe(first.body.sessionId);
  expect(fresh).toMatchObject({ status: 202, replayed: null });
  expect(await send(account, longest, form(filePart(other)))).toEqual({ ...fresh, replayed: 'true' });
  expect(await traces(service, account)).toMatchObject({ sessions: 2, jobs: 2, records: 1 });
});

test('a refused upload → its key is free for the next try', async () => {
  const account = await makeAccount(service.db);
  expect(await send(account, longest, form(filePart('not audio')))).toMatchObject({ status: 415 });
  expect(await send(account)).toMatchObject({ status: 202, replayed: null });
});

const limited = (limits: Partial<LimitOverrides>) => (account: TestAccount) =>
  updateAccount(service.db, account.id, limits);
const usedUp = ({ id }: TestAccount) =>
  sql`update accounts set reserved_ms = balance_ms where id = ${id}`.execute(service.db);

test.each<[string, number, string, (account: TestAccount) => Promise<unknown>, TestService?]>([
  ['the longest audio shrank', 422, 'audio_too_long', limited({ max_audio_ms: 999 })],
  ['the largest file shrank', 413, 'file_too_large', limited({ max_upload_bytes: 1_000 })],
  ['the disk is full', 503, 'unavailable', async () => {}, fullService],
  ['the queue is full', 429, 'too_many_queued', limited({ queued_sessions: 1 })],
  ['the balance is used up', 402, 'insufficient_balance', usedUp],
])('%s → a fresh upload is %s %s, a repeat is the first answer again', async (_, status, code, change, to) => {
  const account = await makeAccount(service.db);
  const first = await send(account, 'first');
  expect(first).toMatchObject({ status: 202, replayed: null });
  await change(account);
  // Keys are remembered for as long as nothing about them changed; that is noticed within a second.
  await until(async () => (await send(account, 'another', body, to)).status !== 202);
  expect(await send(account, 'another', body, to)).toMatchObject({ status, body: { code } });
  const before = await traces(service, account);
  expect(await send(account, 'first', body, to)).toEqual({ ...first, replayed: 'true' });
  await expectNothingLeft(service, account, before);
});
