import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from '../support/run/jest.ts';
import { sql } from 'kysely';
import { makeAccount } from '../support/service/accounts.ts';
import { withFfmpeg } from '../support/faults/fake-programs.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { boundary, expectNothingLeft, filePart, form, tone, traces } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import type { Traces } from '../support/uploads/uploads.ts';

const service = await useService();
const account = await useAccount(service);
let before: Traces;
let audio: Buffer;
let body: Buffer;
beforeAll(async () => {
  before = await traces(service, account);
  audio = await tone(10_000);
  body = form(filePart(audio));
});
afterEach(async () => {
  jest.useRealTimers();
  await expectNothingLeft(service, account, before);
  const faults = service.logLines.filter((line) => /"level":(50|60)/.test(line));
  expect(faults).toEqual([]);
});

const begin = (headers: Record<string, string | number> = { 'Content-Length': body.length }) =>
  new RawUpload(service.api.port).head({ Authorization: `Bearer ${account.key}`, 'Idempotency-Key': 'k', ...headers });

/** Requests that have ended. */
const handled = () => service.logLines.filter((line) => line.includes('"msg":"request"')).length;

/** Resolves when so many bytes of the one upload are on disk; the parser holds back what could be a boundary. */
async function onDisk(bytes: number): Promise<void> {
  const folder = join(service.dataDir, 'audio', 'incoming');
  const size = async () => {
    const [name] = await readdir(folder);
    return name === undefined ? -1 : (await stat(join(folder, name))).size;
  };
  while ((await size()) < bytes - 500) await new Promise(setImmediate);
}

/** A clock that only the test moves, for what measures an upload; sockets, disk and database go on. */
function holdTheClock(): void {
  jest.useFakeTimers({
    doNotFake: [
      ...(['Date', 'hrtime', 'nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
      ...(['setTimeout', 'clearTimeout'] as const),
    ],
  });
}

test('30 s without a byte → 408 upload_timeout, not before', async () => {
  holdTheClock();
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

test('30 s without the first byte of the body → 408', async () => {
  holdTheClock();
  const client = begin({ 'Content-Length': body.length, Expect: '100-continue' });
  await client.until(/100 Continue/);
  await new Promise(setImmediate);
  jest.advanceTimersByTime(31_000);
  expect(await client.answer()).toMatchObject({ status: 408 });
  client.socket.destroy();
});

test('a byte now and then, less than 16 KiB per second over 60 s → 408', async () => {
  holdTheClock();
  const client = begin().send(body.subarray(0, 20_000));
  await onDisk(20_000);
  for (let sent = 20_000; sent < 120_000; sent += 20_000) {
    jest.advanceTimersByTime(11_000);
    client.send(body.subarray(sent, sent + 20_000));
    await onDisk(sent + 20_000);
    expect(client.received).toBe('');
  }
  jest.advanceTimersByTime(11_000);
  const { status, text } = await client.answer();
  expect({ status, ...JSON.parse(text) }).toMatchObject({ status: 408, code: 'upload_timeout' });
  client.socket.destroy();
});

test.each([
  ['before the body', () => begin()],
  ['within the headers of a part', () => begin().send(`--${boundary}\r\nContent-Dis`)],
  ['within the file', () => begin().send(body.subarray(0, 50_000))],
  ['before the last byte', () => begin().send(body.subarray(0, -1))],
  ['within a chunk', () => begin({ 'Transfer-Encoding': 'chunked' }).send('ffff\r\n').send(body.subarray(0, 5_000))],
])('a client that leaves %s → nothing is left', async (_, start) => {
  const seen = handled();
  const client = start();
  client.socket.end();
  client.socket.destroySoon();
  await client.closed;
  while (handled() === seen) await new Promise(setImmediate);
});

test.each([
  ['before the body', () => begin(), () => ''],
  ['within the file', () => begin(), () => body.subarray(0, 50_000)],
  ['before the last byte', () => begin(), () => body.subarray(0, -1)],
  ['within a chunk', () => begin({ 'Transfer-Encoding': 'chunked' }).send('fffff\r\n'), () => body],
  ['before the last chunk', () => begin({ 'Transfer-Encoding': 'chunked' }).sendChunk(body), () => ''],
])('a client that closes its half %s → 422 upload_incomplete', async (_, start, bytes) => {
  const client = start();
  client.socket.end(bytes());
  const { status, headers, text } = await client.answer();
  expect({ status, ...JSON.parse(text) }).toMatchObject({ status: 422, code: 'upload_incomplete' });
  expect(headers).toMatchObject({ connection: 'close', ratelimit: expect.any(String) });
  expect(client.received).toMatch(/^HTTP\/1\.1 422 Unprocessable Content\r\n/);
  await client.closed;
});

test('a client that closes its half while its upload is written → 422 upload_incomplete', async () => {
  const client = begin().send(body.subarray(0, 50_000));
  await onDisk(50_000);
  client.socket.end();
  expect(JSON.parse((await client.answer()).text)).toMatchObject({ code: 'upload_incomplete' });
  await client.closed;
});

test('a client that closes its half, and would be refused anyway → that refusal', async () => {
  const client = begin({ 'Content-Length': body.length, Authorization: 'Bearer wrong' });
  client.socket.end(body.subarray(0, 50_000));
  expect(await client.answer()).toMatchObject({ status: 401 });
  await client.closed;
});

test('a client that leaves before its headers are checked → does not count against the queued sessions', async () => {
  const other = await makeAccount(service.db, { limits: { queued_sessions: 1 } });
  const headers = { Authorization: `Bearer ${other.key}`, 'Content-Length': body.length };
  const seen = handled();
  await service.db.transaction().execute(async (trx) => {
    await sql`lock table sessions in access exclusive mode`.execute(trx);
    const client = new RawUpload(service.api.port).head(headers).send(body.subarray(0, 1_000));
    const waiting = sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%sessions%'`;
    await until(async () => (await waiting.execute(service.db)).rows[0]!.n === 1);
    client.socket.resetAndDestroy();
    await until(() => handled() > seen);
  });
  const send = () => service.post('/v1/transcriptions', other.key).attach('file', audio, 'a.wav');
  await until(async () => (await send()).status === 202);
});

test('a client that leaves while the audio is measured → nothing is left', async () => {
  // With more behind its samples it is no plain WAV, whose chunks would say its length.
  const measured = form(filePart(Buffer.concat([audio, Buffer.alloc(100)])));
  await withFfmpeg('exec sleep 50', async () => {
    const client = begin({ 'Content-Length': measured.length }).send(measured);
    await onDisk(measured.length);
    client.socket.destroy();
    await expectNothingLeft(service, account, before);
  });
});

test.each([
  ['fewer bytes than announced', { 'Content-Length': 1_000_000 }, () => body.subarray(0, 50_000)],
  ['a chunk of no number', { 'Transfer-Encoding': 'chunked' }, () => Buffer.from('zz\r\nabc\r\n')],
  ['a chunk longer than said', { 'Transfer-Encoding': 'chunked' }, () => Buffer.from('3\r\nabcdef\r\n0\r\n\r\n')],
  ['a chunked body without its end', { 'Transfer-Encoding': 'chunked' }, () => Buffer.from('3\r\nabc\r\n')],
  ['a length that is no number', { 'Content-Length': 'abc' }, () => body],
  ['a negative length', { 'Content-Length': -1 }, () => body],
  ['a length and chunks', { 'Content-Length': 5, 'Transfer-Encoding': 'chunked' }, () => Buffer.from('0\r\n\r\n')],
  ['another encoding', { 'Transfer-Encoding': 'gzip' }, () => body],
])('%s, then the end → 400 or no answer, never 500', async (_, headers, bytes) => {
  const client = begin(headers as Record<string, string | number>);
  client.socket.end(bytes());
  await client.ended;
  client.socket.destroy();
  expect(client.received).toMatch(/^(HTTP\/1\.1 (400|422) [^]*|)$/);
});

test('more bytes than announced → 400 or 422, for what is announced is no form', async () => {
  const client = begin({ 'Content-Length': 100 }).send(body);
  expect([400, 422]).toContain((await client.answer()).status);
  client.socket.destroy();
});
