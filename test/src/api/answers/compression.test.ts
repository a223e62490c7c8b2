/** Which answers are compressed, for whom, and what their headers say. */
import { plainGet } from '../../../support/clients/plain-get.ts';
import { useAccount, useService } from '../../../support/service/use-service.ts';
import { saySession } from '../../../support/service/said.ts';
import { makeSession } from '../../../support/service/sessions.ts';
import type { PlainAnswer } from '../../../support/clients/plain-get.ts';

const service = await useService();
const account = await useAccount(service);
/** Paths of a transcript of 100 segments and of one of 2. */
let long: string;
let short: string;
beforeAll(async () => {
  long = await transcriptOf(Array.from({ length: 100 }, (_, index) => `segment ${index} says grüezi`));
  short = await transcriptOf(['good morning', 'begin']);
  for (let i = 0; i < 18; i += 1) await makeSession(service.db, account.id);
});

const transcriptOf = async (texts: string[]) =>
  `/v1/sessions/${await saySession(service.db, account.id, texts)}/transcript`;

const ask = (path: string, headers: Record<string, string | undefined> = {}, method?: string): Promise<PlainAnswer> =>
  plainGet(service.url + path, { Authorization: `Bearer ${account.key}`, ...headers }, method);

const isGzip = ({ headers }: PlainAnswer) => headers['content-encoding'] === 'gzip';

test.each<[string, string | undefined, boolean]>([
  ['none', undefined, false],
  ['another name of gzip', 'x-gzip', true],
  ['what browsers send', 'gzip, deflate, br, zstd', true],
  ['gzip rated below identity', 'identity, gzip;q=0.5', false],
  ['gzip refused, anything else welcome', 'gzip;q=0, *', false],
  ['only what we do not have', 'br, zstd', false],
  ['garbage', ';;=,\t"gzip', false],
])('Accept-Encoding: %s → the same transcript and tag, compressed or not', async (_, accepted, compressed) => {
  const plain = await ask(long);
  const answer = await ask(long, { 'Accept-Encoding': accepted });
  expect([answer.status, isGzip(answer)]).toEqual([200, compressed]);
  expect(answer.text).toBe(plain.text);
  for (const name of ['etag', 'vary', 'content-type', 'cache-control'])
    expect(answer.headers[name]).toBe(plain.headers[name]);
  expect(answer.headers.vary).toBe('Accept, Accept-Encoding, Authorization');
  expect(answer.headers['content-length']).toBe(compressed ? undefined : String(answer.bytes.length));
  if (compressed) expect(answer.bytes.length).toBeLessThan(plain.bytes.length / 2);
});

test.each([0, 1, 2])(
  'characters that no piece may cut, moved by %i → each arrives whole, however it is sent',
  async (by) => {
    const text = `${'-'.repeat(by)}${'😀…'.repeat(200)}`;
    const path = await transcriptOf(Array.from({ length: 300 }, () => text));
    const [plain, packed] = [await ask(path), await ask(path, { 'Accept-Encoding': 'gzip' })];
    expect([plain, packed].map(isGzip)).toEqual([false, true]);
    expect(packed.text).toBe(plain.text);
    const { segments } = JSON.parse(plain.text) as { segments: { text: string }[] };
    expect(segments.map((segment) => segment.text === text)).toEqual(Array(300).fill(true));
  },
);

test('a list of 20 sessions → compressed, and Vary says so to who gets it as it is', async () => {
  const [packed, plain] = [await ask('/v1/sessions', { 'Accept-Encoding': 'gzip' }), await ask('/v1/sessions')];
  expect([isGzip(packed), isGzip(plain)]).toEqual([true, false]);
  expect(packed.text).toBe(plain.text);
  expect(JSON.parse(packed.text).items).toHaveLength(20);
  expect([packed.headers.vary, plain.headers.vary]).toEqual(['Accept-Encoding', 'Accept-Encoding']);
});

test.each(['/openapi.json', '/v1/openapi.json', '/docs'])('%s → compressed, with one weak tag', async (path) => {
  const packed = await plainGet(service.url + path, { 'Accept-Encoding': 'gzip' });
  const plain = await plainGet(service.url + path);
  expect([isGzip(plain), plain.headers.vary, packed.headers.vary]).toEqual([
    false,
    'Accept-Encoding',
    'Accept-Encoding',
  ]);
  expect(packed.text).toBe(plain.text);
  expect(packed.headers.etag).toMatch(/^W\/"/);
  expect(packed.headers.etag).toBe(plain.headers.etag);
  // The page itself is small; its scripts and the contract are not.
  expect(isGzip(packed)).toBe(plain.bytes.length > 2048);
});

test('small answers → as they are, whatever the client accepts', async () => {
  const accepts = { 'Accept-Encoding': 'gzip, identity;q=0' };
  const answers = [
    await ask(short, accepts),
    await ask(short.replace('/transcript', ''), accepts),
    await ask('/v1/nothing', accepts),
    await ask('/v1/sessions', { ...accepts, Authorization: undefined }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 401]);
  expect(answers.filter(isGzip)).toEqual([]);
  for (const { headers, bytes } of answers) expect(headers['content-length']).toBe(String(bytes.length));
});

test('If-None-Match with the tag of either form → 304 in either form, with the same Vary and no encoding', async () => {
  for (const path of [long, '/openapi.json']) {
    const { headers: first } = await ask(path, { 'Accept-Encoding': 'gzip' });
    for (const accepted of [undefined, 'gzip', 'identity']) {
      const known = { 'If-None-Match': first.etag, 'Accept-Encoding': accepted };
      const { status, headers, bytes } = await ask(path, known);
      expect([status, headers.etag, headers.vary, bytes.length]).toEqual([304, first.etag, first.vary, 0]);
      for (const name of ['content-encoding', 'content-length', 'content-type'])
        expect(headers).not.toHaveProperty(name);
    }
  }
});

test.each(['gzip', 'identity'])('HEAD with Accept-Encoding: %s → what GET says, without a body', async (accepted) => {
  for (const path of [long, short, '/v1/sessions', '/openapi.json', '/docs']) {
    const get = await ask(path, { 'Accept-Encoding': accepted });
    const head = await ask(path, { 'Accept-Encoding': accepted }, 'HEAD');
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    for (const name of ['content-encoding', 'content-length', 'content-type', 'etag', 'vary', 'cache-control'])
      expect([path, name, head.headers[name]]).toEqual([path, name, get.headers[name]]);
  }
});
