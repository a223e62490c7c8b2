/** What happens while an upload comes: others at the same time, changes of its account, a client that stalls or leaves. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { suspendAccount, updateAccount } from '../../db/accounts/accounts.ts';
import { revokeApiKey } from '../../db/accounts/api-keys.ts';
import { withFfmpeg } from '../support/faults/fake-programs.ts';
import { holdTheClock } from '../support/faults/held-clock.ts';
import { jest } from '../support/run/jest.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { boundary, expectNothingLeft, filePart, form, tone, traces } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import type { LimitOverrides } from '../../db/schema.ts';
import type { TestAccount } from '../support/service/accounts.ts';

const service = await useService();
const second = await useService({ beside: service });
const account = await useAccount(service);
const none = await traces(service, account);
const audio = await tone(1_000);
const long = await tone(10_000);
const body = form(filePart(long));

afterEach(async () => {
  jest.useRealTimers();
  await expectNothingLeft(service, account, none);
  expect(service.logLines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
});

type Headers = Record<string, string | number>;
const begin = (headers: Headers = { 'Content-Length': body.length }, { key } = account) =>
  new RawUpload(service.api.port).head({ Authorization: `Bearer ${key}`, 'Idempotency-Key': 'k', ...headers });
const chunked = { 'Transfer-Encoding': 'chunked' };
const post = ({ key }: TestAccount, to = service) => to.post('/v1/transcriptions', key).attach('file', audio, 'a.wav');

/** Requests that have ended. */
const handled = () => service.logLines.filter((line) => line.includes('"msg":"request"')).length;

/** Resolves when so many bytes of the one upload are on disk; the parser holds back what could be a boundary. */
async function onDisk(bytes: number): Promise<void> {
  const incoming = join(service.dataDir, 'audio', 'incoming');
  const size = async () => {
    const [name] = await readdir(incoming);
    return name === undefined ? -1 : (await stat(join(incoming, name))).size;
  };
  while ((await size()) < bytes - 500) await new Promise(setImmediate);
}

test.each([
  [
    '20 uploads at once to two processes where 3 may wait',
    20,
    { limits: { queued_sessions: 3 } },
    3,
    '429 too_many_queued',
  ],
  ['10 uploads at once with a balance for 2', 10, { balanceMs: 2_999 }, 2, '402 insufficient_balance'],
])('%s → as many are accepted, the others are refused', async (_, count, settings, accepted, refusal) => {
  const owner = await makeAccount(service.db, settings);
  const sent = Array.from({ length: count }, (__, i) => post(owner, i % 2 === 0 ? service : second));
  const outcomes = (await Promise.all(sent)).map((answer) => `${answer.status} ${answer.body.code ?? 'queued'}`);
  const refused = Array<string>(count - accepted).fill(refusal);
  expect(outcomes.sort()).toEqual([...Array<string>(accepted).fill('202 queued'), ...refused]);
  const left = await traces(service, owner);
  expect(left).toMatchObject({ sessions: accepted, jobs: accepted, reservedMs: accepted * 1_000, incoming: [] });
  expect(left.stored).toHaveLength(accepted);
});

test('a slow upload → counts against the queued sessions until it ends', async () => {
  const owner = await makeAccount(service.db, { limits: { queued_sessions: 1 } });
  const slow = begin({ 'Content-Length': body.length }, owner).send(body.subarray(0, 5_000));
  await onDisk(5_000);
  await post(owner).expect(429);
  slow.socket.destroy();
  await until(async () => (await traces(service, owner)).incoming.length === 0);
  await post(owner).expect(202);
});

const limitTo = (limits: Partial<LimitOverrides>) => (owner: TestAccount) =>
  updateAccount(service.db, owner.id, limits);

test.each<[string, number, string, (owner: TestAccount) => Promise<unknown>]>([
  ['its key is revoked', 401, 'unauthorized', (owner) => revokeApiKey(service.db, owner.keyId)],
  ['the account is suspended', 403, 'account_suspended', (owner) => suspendAccount(service.db, owner.id)],
  ['the longest audio falls below it', 422, 'audio_too_long', limitTo({ max_audio_ms: 999 })],
  ['the largest file falls below it', 413, 'file_too_large', limitTo({ max_upload_bytes: 1_000 })],
])('%s while the body comes → %s %s', async (_, status, code, change) => {
  const owner = await makeAccount(service.db);
  const before = await traces(service, owner);
  const client = begin({ 'Content-Length': body.length }, owner).send(body.subarray(0, 5_000));
  await onDisk(5_000);
  await change(owner);
  const answer = await client.send(body.subarray(5_000)).answer();
  expect([answer.status, (JSON.parse(answer.text) as { code?: string }).code]).toEqual([status, code]);
  client.socket.destroy();
  await expectNothingLeft(service, owner, before);
});

test('30 s without a byte → 408 upload_timeout, not before', async () => {
  holdTheClock('intervals', 'performance');
  const client = begin().send(body.subarray(0, 50_000));
  await onDisk(50_000);
  jest.advanceTimersByTime(29_000);
  await new Promise(setImmediate);
  expect(client.received).toBe('');
  jest.advanceTimersByTime(2_000);
  const { status, headers, text } = await client.answer();
  expect([status, headers.connection]).toEqual([408, 'close']);
  expect(JSON.parse(text)).toMatchObject({ code: 'upload_timeout', status: 408 });
  client.socket.destroy();
});

const places: [string, () => RawUpload, () => Buffer | string][] = [
  ['within the headers of a part', () => begin(), () => `--${boundary}\r\nContent-Dis`],
  ['within the file', () => begin(), () => body.subarray(0, 50_000)],
  ['before the last byte', () => begin(), () => body.subarray(0, -1)],
  ['before the last chunk', () => begin(chunked).sendChunk(body), () => ''],
];

test.each(places)('a client that leaves %s → nothing is left', async (_, start, bytes) => {
  const seen = handled();
  const client = start().send(bytes());
  client.socket.end();
  client.socket.destroySoon();
  await client.closed;
  while (handled() === seen) await new Promise(setImmediate);
});

test.each(places)('a client that closes its half %s → 422 upload_incomplete', async (_, start, bytes) => {
  const client = start();
  client.socket.end(bytes());
  const { status, headers, text } = await client.answer();
  expect({ status, ...JSON.parse(text) }).toMatchObject({ status: 422, code: 'upload_incomplete' });
  expect(headers).toMatchObject({ connection: 'close', ratelimit: expect.any(String) });
  expect(client.received).toMatch(/^HTTP\/1\.1 422 Unprocessable Content\r\n/);
  await client.closed;
});

test('a client that leaves while the audio is measured → nothing is left', async () => {
  // With more behind its samples it is no plain WAV, whose chunks would say its length.
  const measured = form(filePart(Buffer.concat([long, Buffer.alloc(100)])));
  await withFfmpeg('exec sleep 50', async () => {
    const client = begin({ 'Content-Length': measured.length }).send(measured);
    await onDisk(measured.length);
    client.socket.destroy();
    await expectNothingLeft(service, account, none);
  });
});
