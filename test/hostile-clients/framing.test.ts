/** Requests that two readers could cut in different places: a proxy must never see another request than we do. */
import { parseAnswers, sendRaw } from '../support/clients/raw-http.ts';
import { useAccount, useService } from '../support/service/use-service.ts';

const service = await useService();
const account = await useAccount(service);
afterEach(() => {
  expect(service.logLines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
});

/** What an attacker would have us answer. */
const smuggled = 'GET /v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n';

/** The bytes of a request with a valid key, and of another one behind it. */
const request = (start: string, headers: string[], body = '') =>
  [start, ...headers, `Authorization: Bearer ${account.key}`, '', body].join('\r\n') + smuggled;

/** One answer, the connection closed behind it, and nothing done with what came after. */
async function answerTo(bytes: string) {
  const from = service.logLines.length;
  const answers = parseAnswers(await sendRaw(service.api.port, Buffer.from(bytes, 'latin1')));
  expect(answers.map(({ headers }) => headers.connection)).toEqual(['close']);
  expect(service.logLines.slice(from).join('')).not.toContain('route_not_found');
  return answers[0]!;
}

async function expectRefused(bytes: string): Promise<void> {
  const { status, headers, text } = await answerTo(bytes);
  expect([status, headers['content-type']]).toEqual([400, 'application/problem+json']);
  expect(JSON.parse(text)).toMatchObject({ code: 'invalid_request', requestId: headers['x-request-id'] });
}

const get = 'GET /v1/sessions HTTP/1.1';
const post = 'POST /v1/transcriptions HTTP/1.1';

test.each<[string, string, string[], string?]>([
  ['a length and chunks', post, ['Host: a', 'Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ['two lengths', post, ['Host: a', 'Content-Length: 5', 'Content-Length: 6'], 'abcde'],
  ['a length beyond 64 bits', post, ['Host: a', 'Content-Length: 99999999999999999999999']],
  ['a coding behind the chunks', get, ['Host: a', 'Transfer-Encoding: chunked, identity'], '0\r\n\r\n'],
  ['a space behind the name', get, ['Host: a', 'Transfer-Encoding : chunked'], '0\r\n\r\n'],
  ['chunks in HTTP/1.0', 'GET /v1/sessions HTTP/1.0', ['Host: a', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ['a folded header', get, ['Host: a', 'X: a\r\n b']],
  ['a header that ends in LF', get, ['Host: a', 'X: a\nY: b']],
  ['NUL within a header', get, ['Host: a', 'X: a\u0000b']],
  ['two Hosts', get, ['Host: a', 'Host: b']],
  ['a Host with a path', get, ['Host: a/v1']],
])('%s → 400, and the connection is closed', async (_, start, headers, body = '') => {
  await expectRefused(request(start, headers, body));
});

test.each([
  ['Authorization', ['Authorization: Bearer x']],
  ['Content-Type', ['Content-Type: text/plain', 'content-type: text/plain']],
  ['Idempotency-Key', ['Idempotency-Key: a', 'Idempotency-Key: a']],
])('two headers %s → 400 that names it', async (name, headers) => {
  const { status, text } = await answerTo(request(get, ['Host: a', 'Connection: close', ...headers]));
  expect(status).toBe(400);
  expect(JSON.parse(text)).toMatchObject({ errors: [{ in: 'header', name, message: 'is repeated' }] });
});

test.each(['http://[/', 'http://['])('the target %s → 400 as a problem', async (target) => {
  await expectRefused(request(`GET ${target} HTTP/1.1`, ['Host: a', 'Connection: close']));
});

test.each([
  ['a sign', '+3\r\nabc\r\n0\r\n\r\n'],
  ['an extension that ends in LF', '3;a\nabc\r\n0\r\n\r\n'],
  ['more bytes than it says', '2\r\nabc\r\n0\r\n\r\n'],
])('a chunk size with %s → 400', async (_, body) => {
  const headers = ['Host: a', 'Content-Type: multipart/form-data; boundary=b', 'Transfer-Encoding: chunked'];
  await expectRefused(request(post, headers, body));
});

test('a body of GET that looks like a request → answered once, the body is dropped', async () => {
  const headers = ['Host: a', `Content-Length: ${smuggled.length}`];
  expect((await answerTo(request(get, headers, ''))).status).toBe(200);
});

test('trailers → 431 when they are too many, and never read as headers', async () => {
  const head = `${post}\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n`;
  const { status } = await answerTo(`${head}Authorization: Bearer ${account.key}\r\n\r\n`);
  expect(status).toBe(401);
  const flood = await answerTo(
    request(`${post}\r\nTransfer-Encoding: chunked`, ['Host: a'], `0\r\n${'X: y\r\n'.repeat(5_000)}\r\n`),
  );
  expect(flood.status).toBeGreaterThanOrEqual(400);
  expect(flood.status).toBeLessThan(500);
});

test('CONNECT → 404, and the connection is closed', async () => {
  const answers = await sendRaw(service.api.port, 'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: a\r\n\r\n');
  const { status, text } = parseAnswers(answers)[0]!;
  expect([status, (JSON.parse(text) as { code: string }).code]).toEqual([404, 'route_not_found']);
});
