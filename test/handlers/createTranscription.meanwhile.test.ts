/** What happens while an upload comes: others at the same time, changes of its account, a client that stalls or leaves. */
import { mkdtemp, readdir, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { suspendAccount, updateAccount } from '../../db/accounts/accounts.ts';
import { revokeApiKey } from '../../db/accounts/api-keys.ts';
import { findExecutable } from '../../src/children/bounded-command.ts';
import { withFfmpeg } from '../support/faults/fake-programs.ts';
import { holdTheClock } from '../support/faults/held-clock.ts';
import { jest } from '../support/run/jest.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { lockWaits } from '../support/service/lock-waits.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { amrWithoutSound, ffmpeg, sine } from '../support/uploads/audio-fixtures.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { boundary, expectNothingLeft, filePart, form, tone, traces } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';
import type { TestAccount } from '../support/service/accounts.ts';

const service = await useService();
const second = await useService({ beside: service });
const folder = useFolder();
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

/** So many uploads at once, to both processes in turn; how many ended with each status and code. */
async function together(owner: TestAccount, count: number): Promise<Record<string, number>> {
  const sent = Array.from({ length: count }, (_, i) => post(owner, i % 2 === 0 ? service : second));
  const outcomes = (await Promise.all(sent)).map((answer) => `${answer.status} ${answer.body.code ?? 'queued'}`);
  return Object.fromEntries([...Map.groupBy(outcomes, (outcome) => outcome)].map(([name, all]) => [name, all.length]));
}

test.each([
  ['20 uploads at once where 3 may wait', 20, { limits: { queued_sessions: 3 } }, 3, '429 too_many_queued'],
  ['10 uploads at once with a balance for 2', 10, { balanceMs: 2_999 }, 2, '402 insufficient_balance'],
])('%s → as many are accepted, the others are refused', async (_, count, settings, accepted, refusal) => {
  const owner = await makeAccount(service.db, settings);
  expect(await together(owner, count)).toEqual({ '202 queued': accepted, [refusal]: count - accepted });
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

const limitTo = (limits: Parameters<typeof updateAccount>[2]) => (owner: TestAccount) =>
  updateAccount(service.db, owner.id, limits);

test.each<[string, number, string, (owner: TestAccount) => Promise<unknown>]>([
  ['its key is revoked', 401, 'unauthorized', (owner) => revokeApiKey(service.db, owner.keyId)],
  ['the account is suspended', 403, 'account_suspended', (owner) => suspendAccount(service.db, owner.id)],
  ['the plan becomes free', 403, 'plan_not_eligible', (owner) => updateAccount(service.db, owner.id, { plan: 'free' })],
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

test('30 uploads wait for the lock of their account → one connection does, another account reads and uploads', async () => {
  const [busy, other] = [await makeAccount(service.db), await makeAccount(service.db)];
  const uploads = await inAccountTransaction(second.db, busy.id, async () => {
    const sent = Array.from({ length: 30 }, () => post(busy).expect(202).then());
    // Measured and stored: all that is left is the transaction.
    await until(async () => (await traces(service, busy)).stored.length === 30);
    await service.get('/v1/sessions', other.key).expect(200);
    await post(other).expect(202);
    expect(await lockWaits(second.db)).toHaveLength(1);
    return sent;
  });
  await Promise.all(uploads);
  expect(await traces(service, busy)).toMatchObject({ sessions: 30, jobs: 30, reservedMs: 30_000 });
});

test('files of one account take minutes to be measured → another account uploads meanwhile', async () => {
  const [greedy, other] = [await makeAccount(service.db), await makeAccount(service.db)];
  const before = await traces(service, greedy);
  const m4a = await ffmpeg(...sine(1), join(folder, 'short.m4a'));
  const begun = await mkdtemp(join(process.env.TEST_FOLDER!, 'begun-'));
  const endless = form(filePart(amrWithoutSound(100), 'endless.amr'));
  // The file that ffmpeg is given is in one of its arguments.
  const script = `case "$*" in *framecrc*) for one; do case "$one" in file:*) input="\${one#file:}";; esac; done
    if [ "$(${await findExecutable('head')} -c 5 "$input")" = '#!AMR' ]; then : > ${begun}/$$; exec ${await findExecutable('sleep')} 600; fi;; esac
    exec ${await findExecutable('ffmpeg')} "$@"`;
  // More than all places.
  const clients = Array.from({ length: 2 * availableParallelism() + 1 }, (_, i) =>
    begin({ 'Content-Length': endless.length, 'Idempotency-Key': `k${i}` }, greedy),
  );
  try {
    await withFfmpeg(script, async () => {
      for (const client of clients) client.send(endless);
      await until(async () => (await traces(service, greedy)).incoming.length === clients.length);
      await until(async () => (await readdir(begun)).length >= availableParallelism());
      await service.post('/v1/transcriptions', other.key).attach('file', m4a).expect(202);
      expect(await readdir(begun)).toHaveLength(availableParallelism());
    });
  } finally {
    clients.forEach(({ socket }) => socket.destroy());
  }
  await expectNothingLeft(service, greedy, before);
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

test('a byte now and then, less than 16 KiB per second over 60 s → 408', async () => {
  holdTheClock('intervals', 'performance');
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

const places: [string, () => RawUpload, () => Buffer | string][] = [
  ['before the body', () => begin(), () => ''],
  ['within the headers of a part', () => begin(), () => `--${boundary}\r\nContent-Dis`],
  ['within the file', () => begin(), () => body.subarray(0, 50_000)],
  ['before the last byte', () => begin(), () => body.subarray(0, -1)],
  ['within a chunk', () => begin(chunked).send('fffff\r\n'), () => body],
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

test('a client that leaves before its headers are checked → does not count against the queued sessions', async () => {
  const other = await makeAccount(service.db, { limits: { queued_sessions: 1 } });
  const seen = handled();
  await service.db.transaction().execute(async (trx) => {
    await sql`lock table sessions in access exclusive mode`.execute(trx);
    const client = begin({ 'Content-Length': body.length }, other).send(body.subarray(0, 1_000));
    const waiting = sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%sessions%'`;
    await until(async () => (await waiting.execute(service.db)).rows[0]!.n === 1);
    client.socket.resetAndDestroy();
    await until(() => handled() > seen);
  });
  await until(async () => (await post(other)).status === 202);
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
