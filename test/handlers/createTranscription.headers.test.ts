/** What an upload is refused for by its headers: in which order, and that ordinary clients see the answer. */
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAnswers, sendRaw } from '../support/clients/raw-http.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { closing, expectNothingLeft, filePart, form, formType, tone, traces } from '../support/uploads/uploads.ts';
import type { LimitOverrides } from '../../db/schema.ts';

const oneMiB = 1024 * 1024;
const service = await useService();
const fullService = await useService({ beside: service, env: { MIN_FREE_DISK: String(Number.MAX_SAFE_INTEGER) } });
const account = await useAccount(service);
const audio = await tone(100);
beforeAll(async () => {
  for (const size of [3, 64]) {
    await writeFile(bodyOf(size), Buffer.concat([filePart(Buffer.alloc(size * oneMiB, 7)), closing]));
  }
});

/** What can be wrong with an upload before its body is looked at, in the decided order of checks. */
interface Fault {
  code: string;
  status: number;
  account?: { balanceMs?: number; limits?: Partial<LimitOverrides> };
  headers?: Record<string, string | number>;
  /** Further fields of the problem. */
  details?: Record<string, unknown>;
}

/** Of the checks of every request, one stands for all: their order is that of test/src/api/access/auth.test.ts. */
const faults: Fault[] = [
  { code: 'unauthorized', status: 401, headers: { Authorization: 'Bearer tsk_wrong' } },
  {
    code: 'invalid_request',
    status: 400,
    headers: { 'Idempotency-Key': 'k'.repeat(256) },
    details: { errors: [{ in: 'header', name: 'Idempotency-Key', message: expect.any(String) }] },
  },
  { code: 'unsupported_media', status: 415, headers: { 'Content-Type': 'application/json' } },
  {
    code: 'file_too_large',
    status: 413,
    account: { limits: { max_upload_bytes: oneMiB } },
    details: { limitBytes: oneMiB },
  },
  { code: 'too_many_queued', status: 429, account: { limits: { queued_sessions: 0 } } },
  { code: 'insufficient_balance', status: 402, account: { balanceMs: 0 }, details: { availableMs: 0 } },
];

/** An account with these faults, and the headers of a request with them, which announce 64 MiB. */
async function arranged(...codes: string[]) {
  const chosen = codes.map((code) => faults.find((fault) => fault.code === code)!);
  const limits = Object.assign({}, ...chosen.map(({ account }) => account?.limits)) as Partial<LimitOverrides>;
  const settings = Object.assign({}, ...chosen.map(({ account }) => account)) as Fault['account'];
  const made = await makeAccount(service.db, { ...settings, limits: { requests_per_minute: 100, ...limits } });
  const headers: Record<string, string | number> = {
    ...{ Authorization: `Bearer ${made.key}`, 'Content-Type': formType, 'Content-Length': 64 * oneMiB },
    ...(Object.assign({}, ...chosen.map((fault) => fault.headers)) as Fault['headers']),
  };
  return { account: made, headers };
}

const bodyOf = (size: number) => join(process.env.TEST_FOLDER!, `body-${size}MiB`);

const pairs = faults.flatMap((first, i) => faults.slice(i + 1).map((second) => [first.code, second.code] as const));

test.each(pairs)('%s and %s at once → the first, by the headers alone', async (...codes) => {
  const first = faults.find(({ code }) => code === codes[0])!;
  const { account: refused, headers } = await arranged(...codes);
  const before = await traces(service, refused);
  const client = new RawUpload(service.api.port).head({ ...headers, Expect: '100-continue' });
  const { status, headers: got, text } = await client.answer();
  expect({ status, ...JSON.parse(text) }).toMatchObject({ ...first.details, status: first.status, code: first.code });
  expect(got.connection).toBe('close');
  expect(client.received).not.toContain('100 Continue');
  client.socket.end();
  await client.closed;
  await expectNothingLeft(service, refused, before);
});

test('less free than MIN_FREE_DISK → 503 before the body, after the other checks', async () => {
  const { account: other, headers } = await arranged();
  const before = await traces(service, other);
  const client = new RawUpload(fullService.api.port).head({ ...headers, Expect: '100-continue' });
  const answer = await client.answer();
  const problem = JSON.parse(answer.text) as { code: string; retryAfterSeconds: number };
  expect([answer.status, problem.code]).toEqual([503, 'unavailable']);
  expect(answer.headers['retry-after']).toBe(String(problem.retryAfterSeconds));
  expect(client.received).not.toContain('100 Continue');
  client.socket.destroy();
  await expectNothingLeft(service, other, before);

  const { headers: unpaid } = await arranged('insufficient_balance');
  expect(await new RawUpload(fullService.api.port).head(unpaid).answer()).toMatchObject({ status: 402 });
});

const body = form(filePart(audio));
test.each<[string, Record<string, string>, string]>([
  ['no Content-Type', {}, 'Content-Type'],
  ['a longer name of its type', { 'Content-Type': 'multipart/form-data-x; boundary=x' }, 'Content-Type'],
  ['a coding', { 'Content-Type': formType, 'Content-Encoding': 'gzip' }, 'Content-Encoding'],
])('%s → 415 before the body, which names the header', async (_, headers, name) => {
  const before = await traces(service, account);
  // fetch names no type for bytes.
  const response = await fetch(`${service.url}/v1/transcriptions`, {
    method: 'POST',
    headers: { ...headers, Authorization: `Bearer ${account.key}` },
    body: new Uint8Array(body),
  });
  const problem = { status: 415, code: 'unsupported_media', errors: [{ in: 'header', name }] };
  expect(await response.json()).toMatchObject(problem);
  expect(response.headers.get('accept-encoding')).toBe(name === 'Content-Encoding' ? 'identity' : null);
  await expectNothingLeft(service, account, before);
});

test('Content-Encoding: identity, which says nothing → 202', async () => {
  const request = service.post('/v1/transcriptions', account.key).set('Content-Type', formType);
  await request.set('Content-Encoding', 'Identity').send(body).expect(202);
});

test.each(['HTTP/1.1', 'HTTP/1.0'])('a request of %s without a body → 400 that says so', async (version) => {
  const head = [
    ...[`POST /v1/transcriptions ${version}`, 'Host: localhost', 'Connection: close'],
    ...[`Authorization: Bearer ${account.key}`, `Content-Type: ${formType}`, '', ''],
  ];
  const [answer] = parseAnswers(await sendRaw(service.api.port, head.join('\r\n')));
  expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('The request has no body') });
});

test('Expect: 100-continue with nothing wrong in the headers → 100, then the answer to the body', async () => {
  const headers = { Authorization: `Bearer ${account.key}`, 'Content-Length': body.length, Expect: '100-continue' };
  const client = new RawUpload(service.api.port).head(headers);
  await client.until(/\r\n\r\n/);
  expect(client.received).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  await client.send(body).until(/\r\n\r\nHTTP\/1\.1 202 Accepted/);
  client.socket.destroy();
});

test('a refused upload pipelined behind a held request → both are answered, in order', async () => {
  const accepted = await service.post('/v1/transcriptions', account.key).attach('file', audio, 'a.wav');
  const client = new RawUpload(service.api.port);
  const held = `/v1/sessions/${String(accepted.body.sessionId)}/transcript?wait=1`;
  client.send(`GET ${held} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${account.key}\r\n\r\n`);
  client.head({ 'Content-Length': 1_000_000 }).send('the beginning of a body');
  await client.ended;
  client.socket.destroy();
  expect(client.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401']);
});

/** Posts the bytes of a file, and answers the text that it got. */
type Client = (headers: Record<string, string>, path: string) => Promise<string>;

const nodeFetch: Client = async (headers, path) => {
  const body = await openAsBlob(path);
  return (await fetch(`${service.url}/v1/transcriptions`, { method: 'POST', headers, body })).text();
};

const curlWith =
  (...options: string[]): Client =>
  async (headers, path) => {
    const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const args = ['-sS', '--max-time', '20', ...options, ...fields, '--data-binary', `@${path}`];
    return (await promisify(execFile)('curl', [...args, `${service.url}/v1/transcriptions`])).stdout;
  };

const [curl, curlWithoutExpect] = [curlWith(), curlWith('-H', 'Expect:')];
test.each<[string, number, string, Client]>([
  ['fetch', 3, 'unauthorized', nodeFetch],
  ['fetch', 64, 'insufficient_balance', nodeFetch],
  ['curl', 64, 'unauthorized', curl],
  ['curl without Expect', 3, 'insufficient_balance', curlWithoutExpect],
  ['curl without Expect', 64, 'unauthorized', curlWithoutExpect],
])('%s, %i MiB and %s → it sees the refusal', async (_, size, code, client) => {
  const { account: refused, headers } = await arranged(code);
  const before = await traces(service, refused);
  const { 'Content-Length': __, ...others } = headers;
  const seen = await client(others as Record<string, string>, bodyOf(size));
  expect(JSON.parse(seen)).toMatchObject({ code });
  await expectNothingLeft(service, refused, before);
});
