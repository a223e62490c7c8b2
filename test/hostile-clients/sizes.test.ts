/** Far too much of everything that a request is made of. */
import { parseAnswers, sendRaw } from '../support/clients/raw-http.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { boundary, expectNothingLeft, filePart, form, formType } from '../support/uploads/uploads.ts';
import { part, textPart, tone, traces } from '../support/uploads/uploads.ts';

const service = await useService();
const account = await useAccount(service);
let audio: Buffer;
beforeAll(async () => {
  audio = await tone(100);
});
afterEach(() => {
  expect(service.logLines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
});

const get = (target: string, headers: string[] = []) => {
  const lines = [`GET ${target} HTTP/1.1`, 'Host: a', 'Connection: close', `Authorization: Bearer ${account.key}`];
  return Buffer.from([...lines, ...headers, '', ''].join('\r\n'), 'latin1');
};

const parameters = (count: number) => Array.from({ length: count }, (_, i) => `p${i}=1`).join('&');

test.each<[string, () => Buffer, number]>([
  ['a path of 15,000 characters', () => get(`/v1/${'a'.repeat(15_000)}`), 404],
  ['a session id of 15,000 characters', () => get(`/v1/sessions/${'a'.repeat(15_000)}`), 400],
  ['1,500 query parameters', () => get(`/v1/sessions?${parameters(1_500)}`), 400],
  ['a limit of 5,000 digits', () => get(`/v1/sessions?limit=${'9'.repeat(5_000)}`), 400],
  ['500 headers', () => get('/v1/sessions', Array(500).fill('X: y')), 200],
  ['50,000 headers', () => get('/v1/sessions', Array(50_000).fill('X: y')), 431],
  ['a header of 1 MB', () => get('/v1/sessions', [`X: ${'y'.repeat(1e6)}`]), 431],
  ['an Accept of 3,000 types', () => get('/v1/openapi.json', [`Accept: ${'a/b;q=0.1,'.repeat(1_400)}*/*`]), 200],
  ['an If-None-Match of 3,000 tags', () => get('/v1/openapi.json', [`If-None-Match: ${'"a",'.repeat(3_000)}"b"`]), 400],
  ['an Accept-Encoding of 3,000', () => get('/v1/openapi.json', [`Accept-Encoding: ${'a,'.repeat(3_000)}b`]), 200],
])('%s → answered once', async (_, bytes, status) => {
  const answers = await sendRaw(service.api.port, bytes()).then(
    (text) => parseAnswers(text),
    // The refusal comes while the rest is sent; where that is long, the connection may be reset behind it.
    (error: NodeJS.ErrnoException) => error.code,
  );
  if (answers === 'ECONNRESET' || answers === 'EPIPE') expect(status).toBe(431);
  else expect(answers).toEqual([expect.objectContaining({ status })]);
  await service.get('/v1/openapi.json').expect(200);
});

const many = (count: number, make: (i: number) => Buffer) => form(...Array.from({ length: count }, (_, i) => make(i)));
const inLatin1 = (body: Buffer, old: string, other: string) =>
  Buffer.from(body.toString('latin1').replace(old, other), 'latin1');
const named = (disposition: string) => form(part(`Content-Disposition: form-data; ${disposition}`, audio));

test.each<[string, () => Buffer, number[]]>([
  ['10,000 fields', () => many(10_000, (i) => textPart(`f${i}`, 'x')), [400]],
  ['10,000 files', () => many(10_000, () => filePart('x')), [400]],
  ['100,000 boundaries', () => Buffer.from(`--${boundary}\r\n`.repeat(100_000)), [400, 422]],
  ['5,000 part headers', () => form(part(Array(5_000).fill('X: y'), audio)), [400]],
  ['NUL in the name of a field', () => named('name="fi\0le"; filename="a.wav"'), [400]],
  ['NUL in the name of the file', () => named('name="file"; filename="a\0.wav"'), [202, 400]],
  ['NUL bytes instead of a form', () => Buffer.alloc(200_000), [400, 422]],
  ['NUL bytes behind the form', () => Buffer.concat([form(filePart(audio)), Buffer.alloc(20_000)]), [202]],
  ['a file name of 10,000 characters', () => named(`name="file"; filename="${'a'.repeat(10_000)}.wav"`), [202]],
  ['a file name that is no UTF-8', () => inLatin1(named('name="file"; filename="?.wav"'), '?.wav', 'ü\xff.wav'), [202]],
])('a form with %s → refused or accepted as decided, and nothing left of a refusal', async (_, make, expected) => {
  const before = await traces(service, account);
  const { status } = await service.post('/v1/transcriptions', account.key).set('Content-Type', formType).send(make());
  expect(expected).toContain(status);
  if (status !== 202) await expectNothingLeft(service, account, before);
});

test.each([
  ['none', 'multipart/form-data', 415],
  ['two of them', `multipart/form-data; boundary=${boundary}; boundary=other`, 202],
  ['one beyond ASCII', 'multipart/form-data; boundary=\u00e9', 415],
  ['one of 8,000 characters', `multipart/form-data; boundary=${'b'.repeat(8_000)}`, 422],
  ['a type in capitals', `MULTIPART/FORM-DATA; BOUNDARY=${boundary}`, 202],
])('a boundary: %s → no fault of ours', async (_, type, expected) => {
  const before = await traces(service, account);
  const { status } = await service
    .post('/v1/transcriptions', account.key)
    .set('Content-Type', type)
    .send(form(filePart(audio)));
  expect(status).toBe(expected);
  if (status !== 202) await expectNothingLeft(service, account, before);
});
