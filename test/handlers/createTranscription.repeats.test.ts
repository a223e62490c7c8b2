/** A repeat of an accepted upload is answered whatever became of limits, balance, queue, disk and ffmpeg. */
import { join } from 'node:path';
import { sql } from 'kysely';
import { setLimitOverrides } from '../../db/accounts/accounts.ts';
import { withFfmpeg } from '../support/faults/fake-programs.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { useService } from '../support/service/use-service.ts';
import { ffmpeg, sine } from '../support/uploads/audio-fixtures.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { expectNothingLeft, filePart, form, formType, tone, traces } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';
import type { LimitOverrides } from '../../db/schema.ts';
import type { TestAccount } from '../support/service/accounts.ts';
import type { TestService } from '../support/service/service.ts';

const service = await useService();
const fullService = await useService({ beside: service, env: { MIN_FREE_DISK: String(Number.MAX_SAFE_INTEGER) } });
const folder = useFolder();
let body: Buffer;
beforeAll(async () => void (body = form(filePart(await tone(1_000)))));

interface Answered {
  status: number;
  body: { code?: string; sessionId?: string };
  replayed: string | null;
}

type Send = (account: TestAccount, key: string) => Promise<Answered>;

/** @param content a stream comes without a length */
const send =
  (to: () => TestService, content: () => Buffer | ReadableStream = () => body): Send =>
  async (account, key) => {
    const headers = { Authorization: `Bearer ${account.key}`, 'Content-Type': formType, 'Idempotency-Key': key };
    const init = { method: 'POST', headers, body: content(), duplex: 'half' } as RequestInit;
    const answer = await fetch(`${to().url}/v1/transcriptions`, init);
    const replayed = answer.headers.get('idempotency-replayed');
    return { status: answer.status, body: (await answer.json()) as Answered['body'], replayed };
  };
const sendHere = send(() => service);
const sendChunked = send(
  () => service,
  () => new Blob([new Uint8Array(body)]).stream(),
);
const sendToFullDisk = send(() => fullService);

const limited = (limits: Partial<LimitOverrides>) => (account: TestAccount) =>
  setLimitOverrides(service.db, account.id, limits);

test.each<[string, number, string, Send, (account: TestAccount) => Promise<unknown>]>([
  ['the longest audio shrank', 422, 'audio_too_long', sendHere, limited({ max_audio_ms: 999 })],
  ['the largest file shrank', 413, 'file_too_large', sendHere, limited({ max_upload_bytes: 1_000 })],
  ['it shrank, and the length is not told', 413, 'file_too_large', sendChunked, limited({ max_upload_bytes: 1_000 })],
  ['the disk is full', 503, 'unavailable', sendToFullDisk, async () => {}],
  [
    'the disk is full, and the length is not told',
    503,
    'unavailable',
    send(
      () => fullService,
      () => new Blob([new Uint8Array(body)]).stream(),
    ),
    async () => {},
  ],
  ['the queue is full', 429, 'too_many_queued', sendHere, limited({ queued_sessions: 1 })],
  [
    'the balance is used up',
    402,
    'insufficient_balance',
    sendHere,
    ({ id }) => sql`update accounts set reserved_ms = balance_ms where id = ${id}`.execute(service.db),
  ],
])('%s → a fresh upload is %s %s, a repeat is the first answer again', async (_, status, code, repeat, change) => {
  const account = await makeAccount(service.db);
  const first = await sendHere(account, 'first');
  expect(first).toMatchObject({ status: 202, replayed: null });
  await change(account);
  // Keys are remembered for as long as nothing about them changed; that is noticed within a second.
  await until(async () => (await repeat(account, 'another')).status !== 202);
  expect(await repeat(account, 'another')).toMatchObject({ status, body: { code } });
  const before = await traces(service, account);
  expect(await repeat(account, 'first')).toEqual({ status: 202, body: first.body, replayed: 'true' });
  await expectNothingLeft(service, account, before);
});

test('a repeat → not measured', async () => {
  const account = await makeAccount(service.db);
  const m4a = await ffmpeg(...sine(1), join(folder, 'a.m4a'));
  const post = (key: string) =>
    service.post('/v1/transcriptions', account.key).set('Idempotency-Key', key).attach('file', m4a);
  const first = await post('first').expect(202);
  await withFfmpeg('exit 127', async () => {
    await post('another').expect(503);
    expect((await post('first').expect(202)).body).toEqual(first.body);
  });
});

test('a repeat with other bytes when the largest file shrank → 422 idempotency_key_reused', async () => {
  const account = await makeAccount(service.db);
  await sendHere(account, 'first');
  await limited({ max_upload_bytes: 1_000 })(account);
  const other = form(filePart(await tone(1_000, 30)));
  const answer = await send(
    () => service,
    () => other,
  )(account, 'first');
  expect(answer).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
});

test('a repeat that comes slowly → is no upload in flight; its record expires meanwhile → 503, and it is taken then', async () => {
  const account = await makeAccount(service.db, { limits: { queued_sessions: 2 } });
  await sendHere(account, 'first');
  const before = await traces(service, account);
  const slow = new RawUpload(service.api.port).head({
    ...{ Authorization: `Bearer ${account.key}`, 'Content-Length': body.length, Expect: '100-continue' },
    'Idempotency-Key': 'first',
  });
  await slow.until(/100 Continue/);
  slow.send(body.subarray(0, 5_000));
  // One waits, one more may.
  expect(await sendHere(account, 'second')).toMatchObject({ status: 202, replayed: null });
  await sql`delete from idempotency where account_id = ${account.id} and key = 'first'`.execute(service.db);
  const { status, headers } = await slow.send(body.subarray(5_000)).answer();
  expect([status, headers['retry-after']]).toEqual([503, '1']);
  slow.socket.destroy();
  await limited({ queued_sessions: 3 })(account);
  await until(async () => (await sendHere(account, 'first')).status === 202);
  expect(await traces(service, account)).toMatchObject({ sessions: 3, jobs: 3, records: 2, incoming: before.incoming });
});
