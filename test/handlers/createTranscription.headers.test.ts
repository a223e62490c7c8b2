/** What an upload is refused for by its headers: in which order, and that ordinary clients see the answer. */
import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { suspendAccount } from '../../db/accounts/accounts.ts';
import { parseAnswers, sendRaw } from '../support/clients/raw-http.ts';
import { makeAccount, makeKey } from '../support/service/accounts.ts';
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
  account?: { plan?: string; balanceMs?: number; limits?: Partial<LimitOverrides> };
  suspended?: true;
  readOnly?: true;
  headers?: Record<string, string | number>;
  /** Further fields of the problem. */
  details?: Record<string, unknown>;
}

const faults: Fault[] = [
  { code: 'unauthorized', status: 401, headers: { Authorization: 'Bearer tsk_wrong' } },
  { code: 'plan_not_eligible', status: 403, account: { plan: 'free' } },
  { code: 'account_suspended', status: 403, suspended: true },
  { code: 'rate_limited', status: 429, account: { limits: { requests_per_minute: 0 } } },
  { code: 'insufficient_scope', status: 403, readOnly: true, details: { requiredScope: 'write' } },
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
  if (chosen.some(({ suspended }) => suspended)) await suspendAccount(service.db, made.id);
  const readOnly = chosen.some((fault) => fault.readOnly);
  const { key } = readOnly ? await makeKey(service.db, made.id, { scopes: ['read'] }) : made;
  const headers: Record<string, string | number> = {
    ...{ Authorization: `Bearer ${key}`, 'Content-Type': formType, 'Content-Length': 64 * oneMiB },
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

test.each(['rate_limited', 'too_many_queued'])('%s → Retry-After, in the problem too', async (code) => {
  const { headers } = await arranged(code);
  const answer = await new RawUpload(service.api.port).head(headers).answer();
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(JSON.parse(answer.text)).toMatchObject({ retryAfterSeconds: Number(answer.headers['retry-after']) });
});

const body = form(filePart(audio));
test.each<[string, Record<string, string>, string]>([
  ['no Content-Type', {}, 'Content-Type'],
  ['JSON', { 'Content-Type': 'application/json' }, 'Content-Type'],
  ['a longer name of its type', { 'Content-Type': 'multipart/form-data-x; boundary=x' }, 'Content-Type'],
  ...['gzip', 'gzip, identity'].map((coding): [string, Record<string, string>, string] => [
    `the coding ${coding}`,
    { 'Content-Type': formType, 'Content-Encoding': coding },
    'Content-Encoding',
  ]),
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
  expect([response.status, response.headers.get('accept-encoding')]).toEqual([
    ...[415, name === 'Content-Encoding' ? 'identity' : null],
  ]);
  await expectNothingLeft(service, account, before);
});

test('Content-Encoding: identity, which says nothing → 202', async () => {
  const request = service.post('/v1/transcriptions', account.key).set('Content-Type', formType);
  await request.set('Content-Encoding', 'Identity').send(body).expect(202);
});

test.each([
  ['without a body', 'HTTP/1.1', []],
  ['without a body, of HTTP/1.0', 'HTTP/1.0', []],
  ['of HTTP/1.0 without its length', 'HTTP/1.0', [form(filePart('x')).toString('latin1')]],
])('a request %s → 400 that says so', async (_, version, content: string[]) => {
  const head = [
    ...[`POST /v1/transcriptions ${version}`, 'Host: localhost', 'Connection: close'],
    ...[`Authorization: Bearer ${account.key}`, `Content-Type: ${formType}`, '', ...content, ''],
  ];
  const [answer] = parseAnswers(await sendRaw(service.api.port, head.join('\r\n')));
  expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('The request has no body') });
});

test.each([
  ['empty', ''],
  ['with a tab', 'a\tb'],
  ['of UTF-8', 'schlüssel'],
])('an Idempotency-Key that is %s → 400 that names it', async (_, key) => {
  const before = await traces(service, account);
  const client = new RawUpload(service.api.port);
  client.socket.setDefaultEncoding('utf8');
  client.head({ Authorization: `Bearer ${account.key}`, 'Idempotency-Key': key, 'Content-Length': 100 });
  const { status, text } = await client.answer();
  const problem = { code: 'invalid_request', errors: [{ in: 'header', name: 'Idempotency-Key' }] };
  expect({ status, ...JSON.parse(text) }).toMatchObject({ ...problem, status: 400 });
  client.socket.end();
  await expectNothingLeft(service, account, before);
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

const execute = promisify(execFile);

interface Seen {
  status: number;
  contentType: string;
  text: string;
}

/** Posts the bytes of a file. */
type Client = (url: string, headers: Record<string, string>, path: string) => Promise<Seen>;

const nodeFetch: Client = async (url, headers, path) => {
  const response = await fetch(url, { method: 'POST', headers, body: await readFile(path) });
  return { status: response.status, contentType: response.headers.get('content-type')!, text: await response.text() };
};

const curlWith =
  (...options: string[]): Client =>
  async (url, headers, path) => {
    const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const format = '\n%{http_code} %{content_type}';
    const args = ['-sS', '--max-time', '20', ...options, ...fields, '--data-binary', `@${path}`, '-w', format, url];
    const { stdout } = await execute('curl', args);
    const [, text, status, contentType] = /^([^]*)\n(\d+) (.*)$/.exec(stdout)!;
    return { status: Number(status), contentType: contentType!, text: text! };
  };

const python =
  (script: string): Client =>
  async (url, headers, path) => {
    const { stdout } = await execute('python3', ['-c', script, url, JSON.stringify(headers), path]);
    const [status, contentType, text] = JSON.parse(stdout) as [number, string, string];
    return { status, contentType, text };
  };

/** What urllib3 (and so `requests`) does as well: an answer may be there although the rest could not be sent. */
const pythonHttpClient = python(`
import http.client, json, sys
from urllib.parse import urlsplit
url, headers, path = urlsplit(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
try:
    connection.request('POST', url.path, open(path, 'rb').read(), headers)
except BrokenPipeError:
    pass
answer = connection.getresponse()
print(json.dumps([answer.status, answer.getheader('content-type'), answer.read().decode()]))
`);

/** Does not look at the connection until everything is sent: for bodies that the server drops whole. */
const urllib = python(`
import json, sys, urllib.request, urllib.error
url, headers, path = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
try:
    answer = urllib.request.urlopen(urllib.request.Request(url, open(path, 'rb').read(), headers), timeout=20)
except urllib.error.HTTPError as error:
    answer = error
print(json.dumps([answer.status, answer.headers['content-type'], answer.read().decode()]))
`);

const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Those that this machine has. */
const clients: [name: string, client: Client][] = [
  ['fetch', nodeFetch],
  ['curl', curlWith()],
  ['curl without Expect', curlWith('-H', 'Expect:')],
  ...(hasPython ? [['http.client', pythonHttpClient] satisfies [string, Client]] : []),
];

/** One of each phase: access, the contract's headers, and what is asked of the account. */
const codes = ['unauthorized', 'invalid_request', 'insufficient_balance'];
test.each([
  ...clients.flatMap(([name, client]) => codes.map((code) => ({ name, client, code, size: 64 }))),
  ...[...clients, ...(hasPython ? [['urllib', urllib] as const] : [])].map(([name, client]) => ({
    ...{ name, client, code: codes[0]!, size: 3 },
  })),
])('$name sends $size MiB and is refused → it sees $code', async ({ client, code, size }) => {
  const { account: refused, headers } = await arranged(code);
  const before = await traces(service, refused);
  const { 'Content-Length': _, ...others } = headers;
  const seen = await client(`${service.url}/v1/transcriptions`, others as Record<string, string>, bodyOf(size));
  const { status } = faults.find((fault) => fault.code === code)!;
  expect({ ...seen, text: JSON.parse(seen.text) }).toMatchObject({
    ...{ status, contentType: 'application/problem+json', text: { code, status } },
  });
  await expectNothingLeft(service, refused, before);
});
