/** Servers that are busy, broken or hostile. */
import { jest } from '../../../support/run/jest.ts';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createOpenAi } from '../../../../src/recognizers/openai/openai.ts';
import { RecognizerError } from '../../../../src/recognizers/recognizer.ts';
import { asRecognizerInput, ffmpeg, sine } from '../../../support/uploads/audio-fixtures.ts';
import { childrenOf } from '../../../rig/processes.ts';
import { holdTheClock } from '../../../support/faults/held-clock.ts';
import { refusal, startSpeechServer } from '../../../support/models/speech-server.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { until } from '../../../support/until.ts';
import type { AddressInfo } from 'node:net';
import type { OpenAiOptions } from '../../../../src/recognizers/openai/openai.ts';
import type { DecodedAudio } from '../../../../src/recognizers/recognizer.ts';
import type { Reply, SpeechServerOptions } from '../../../support/models/speech-server.ts';

const apiKey = 'sk-proj-0123456789abcdefSECRET';
const fine: Reply = { status: 200, body: { text: 'fine', words: [{ word: 'fine', start: 0.1, end: 0.4 }] } };

let audio: DecodedAudio;
const closing: { close(): Promise<void> }[] = [];
const folder = useFolder();
const elsewhere = useFolder();
beforeAll(async () => {
  const file = await ffmpeg(...sine(2), ...asRecognizerInput, join(folder, 'decoded'));
  audio = { file, durationMs: 2000, silences: [] };
});
/** So long that a server far away gets FLAC. */
const long = async (): Promise<DecodedAudio> => ({
  ...{ durationMs: 40_000, silences: [] },
  file: await ffmpeg(...sine(40), ...asRecognizerInput, join(elsewhere, 'long')),
});
afterEach(async () => {
  jest.useRealTimers();
  await Promise.all(closing.splice(0).map((each) => each.close()));
  // Whatever went wrong, no file is left beside the decoded audio.
  expect(await readdir(folder)).toEqual(['decoded']);
});

async function serve(script: SpeechServerOptions['script'], options: Partial<OpenAiOptions> = {}) {
  const server = await startSpeechServer({ script: script! });
  const recognizer = createOpenAi({ server: { baseUrl: server.url, apiKey, model: 'whisper-1' }, ...options });
  closing.push(recognizer, server);
  return { server, recognizer };
}
/** Answers one after the other, the last one again and again. */
const inTurn = (...replies: Reply[]): SpeechServerOptions['script'] => (_, earlier) => replies[Math.min(earlier, replies.length - 1)]!; // prettier-ignore
const goesOn = new AbortController().signal;
const errorOf = async (running: Promise<unknown>): Promise<RecognizerError> => {
  const error = await running.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RecognizerError);
  return error as RecognizerError;
};

const busy = (retryAfter: () => string) => () => ({
  ...{ status: 429, body: { error: { message: 'slow down' } } },
  headers: { 'retry-after': retryAfter() },
});
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();
test.each<[string, () => Reply, number]>([
  ['429 with Retry-After in seconds', busy(() => '2'), 1990],
  // A date has whole seconds.
  ['429 with Retry-After as a date', busy(() => inSeconds(3)), 1990],
  ['503 with Retry-After', () => ({ status: 503, headers: { 'retry-after': '1' }, body: 'busy' }), 990],
  ['500', () => ({ status: 500, body: { error: { message: 'oops' } } }), 0],
  ['502 of a proxy', () => ({ status: 502, body: '<html>Bad Gateway</html>' }), 0],
  ['a connection that breaks before the answer', () => 'cut the connection', 0],
  ['a connection that breaks within the answer', () => 'cut the answer', 0],
])('%s, then fine → asked again, not earlier than the server says', async (_, first, waitMs) => {
  const { server, recognizer } = await serve((_request, earlier) => (earlier === 0 ? first() : fine));
  const began = performance.now();
  expect((await recognizer.recognize(audio, { signal: goesOn })).segments).toMatchObject([
    { text: 'fine', startMs: 100 },
  ]);
  expect(performance.now() - began).toBeGreaterThanOrEqual(waitMs);
  expect(server.requests).toHaveLength(2);
  const [sent, again] = server.requests;
  expect(again!.file!.bytes.equals(sent!.file!.bytes)).toBe(true);
});

test('a Retry-After beyond the time limit → not asked again before it; timed_out, retryable', async () => {
  const reply = { status: 429, headers: { 'retry-after': '3600' }, body: {} };
  const { server, recognizer } = await serve(inTurn(reply), { timeLimitMs: () => 2500 });
  const error = await errorOf(recognizer.recognize(audio, { signal: goesOn }));
  expect(error).toMatchObject({ code: 'timed_out', retryable: true });
  expect(server.requests).toHaveLength(1);
});

test.each<[string, Record<string, string>, string]>([
  ['that the server says not to repeat', { 'x-should-retry': 'false', 'retry-after': '3600' }, 'rate_limit_exceeded'],
  ['of an account that has to pay first', { 'retry-after': '1' }, 'insufficient_quota'],
])('429 %s → not repeated', async (_, headers, code) => {
  const body = { error: { message: 'You exceeded your current quota', code } };
  const { server, recognizer } = await serve(inTurn({ status: 429, headers, body }));
  const error = await errorOf(recognizer.recognize(audio, { signal: goesOn }));
  expect(error).toMatchObject({ code: 'recognizer_error', retryable: true });
  expect(error.message).toContain('429 You exceeded your current quota');
  expect(server.requests).toHaveLength(1);
});

test.each<[string, Reply, string]>([
  ['413', { status: 413, body: '<html>\n<h1>413 Request Entity\u0007 Too Large</h1></html>' }, 'Request Entity'],
  ['400', refusal(400, 'Audio file might be corrupted', 'file'), '400 Audio file might be corrupted'],
  [
    'the way of vLLM',
    { status: 400, body: { object: 'error', message: 'Maximum clip duration exceeded' } },
    'clip duration',
  ],
  [
    'the way of FastAPI',
    { status: 422, body: { detail: [{ loc: ['body', 'model'], msg: 'unknown' }] } },
    '"body","model"',
  ],
  ['one word', { status: 400, body: { error: 'Unsupported' } }, '400 Unsupported'],
])('refused: %s → RecognizerError with what the server said, not retryable, asked once', async (_, reply, message) => {
  const { server, recognizer } = await serve(inTurn(reply));
  const error = await errorOf(recognizer.recognize(audio, { signal: goesOn }));
  expect(error).toMatchObject({ code: 'recognizer_error', retryable: false });
  expect(error.message).toContain(message);
  expect(error.message).toMatch(/^127\.0\.0\.1:\d+ answered \d+ [^\p{Cc}]+$/u);
  expect(server.requests).toHaveLength(1);
});

test.each<[string, Reply, RegExp]>([
  ['HTML', { status: 200, body: '<html>Welcome to our portal</html>' }, /something else than JSON$/],
  ['no JSON', { status: 200, headers: { 'content-type': 'application/json' }, body: '{"text": "so sec' }, /something else than JSON$/], // prettier-ignore
  ['NaN', { status: 200, headers: { 'content-type': 'application/json' }, body: '{"text": NaN}' }, /something else than a transcript$/], // prettier-ignore
  ['an empty body', { status: 200, headers: { 'content-type': 'application/json' }, body: '' }, /something else/],
  ['no body', { status: 204, body: '' }, /something else/],
  ['another shape', { status: 200, body: { transcript: 'so secret' } }, /something else than a transcript$/],
  ['a list', { status: 200, body: ['so secret'] }, /something else than a transcript$/],
  ['an answer without end', 'hardly end', /no end of the answer$/],
])('rubbish: %s → RecognizerError, retryable, that quotes nothing of it', async (_, reply, message) => {
  const { recognizer } = await serve(inTurn(reply), { retries: 0 });
  const error = await errorOf(recognizer.recognize(audio, { signal: goesOn }));
  expect(error).toMatchObject({ code: 'recognizer_error', retryable: true });
  expect(error.message).toMatch(message);
  expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/so sec|portal/);
});

test('an answer without end → given up after some MiB, once', async () => {
  const { server, recognizer } = await serve(inTurn('hardly end'));
  await errorOf(recognizer.recognize(audio, { signal: goesOn }));
  expect(server.requests).toHaveLength(1);
  await until(server.open, (open) => open === 0);
});

test('a Retry-After after the last try → not waited for', async () => {
  const reply = { status: 429, headers: { 'retry-after': '90' }, body: { error: { message: 'slow down' } } };
  const { recognizer } = await serve(inTurn(reply), { retries: 0, timeLimitMs: () => 5000 });
  const error = await errorOf(recognizer.recognize(audio, { signal: goesOn }));
  expect(error.message).toContain('429 slow down');
});

describe('with HTTP_PROXY', () => {
  const lines: string[] = [];
  const proxy = createServer((socket) => {
    socket.once('data', (data) => {
      lines.push(String(data).split('\r\n')[0]!);
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    });
  });
  const proxies = { http: '', https: '', none: '' };
  beforeAll(async () => {
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    proxies.http = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  });
  afterAll(() => proxy.close());

  test('a server elsewhere → the proxy is asked for it, without a tunnel, which it may allow to 443 only', async () => {
    const recognizer = createOpenAi({ server: { baseUrl: 'http://gpu:8000/v1', apiKey, model: 'whisper-1', proxies } });
    closing.push(recognizer);
    const error = await errorOf(recognizer.recognize(audio, { signal: goesOn }));
    expect(error.message).toMatch(/^gpu:8000 answered 403/);
    expect(lines).toEqual(['POST http://gpu:8000/v1/audio/transcriptions HTTP/1.1']);
  });

  test.each(['', 'other.example', '*'])("a server on this machine, NO_PROXY='%s' → asked itself", async (none) => {
    lines.length = 0;
    const server = await startSpeechServer({ script: inTurn(fine)! });
    closing.push(server);
    const spoken = { baseUrl: server.url, apiKey, model: 'whisper-1', proxies: { ...proxies, none } };
    const recognizer = createOpenAi({ server: spoken, retries: 0 });
    closing.push(recognizer);
    expect((await recognizer.recognize(audio, { signal: goesOn })).segments).toHaveLength(1);
    expect(server.requests).toHaveLength(1);
    expect(lines).toEqual([]);
  });
});

test.each<[string, Reply]>([
  ['for an answer', 'never answer'],
  ['to ask again', { status: 429, headers: { 'retry-after': '30' }, body: {} }],
  ['much longer to ask again', { status: 429, headers: { 'retry-after': '300' }, body: {} }],
  ['for the end of an answer', 'never finish'],
])('aborted while it waits %s → rejects with the reason without asking again; nothing goes on', async (_, reply) => {
  // No pause is over before the abort.
  holdTheClock('timeouts');
  const { server, recognizer } = await serve(inTurn(reply));
  const controller = new AbortController();
  const running = recognizer.recognize(audio, { signal: controller.signal });
  running.catch(() => {});
  await until(() => server.requests.length, (count) => count > 0); // prettier-ignore
  const reason = new Error('the service is stopping');
  controller.abort(reason);
  await expect(running).rejects.toBe(reason);
  await until(server.open, (open) => open === 0);
  expect(server.requests).toHaveLength(1);
});

test('aborted while ffmpeg compresses → rejects with the reason, ffmpeg is gone, nothing was sent', async () => {
  const { server, recognizer } = await serve(inTurn(fine), { isNear: false });
  const recording = await long();
  const controller = new AbortController();
  const running = recognizer.recognize(recording, { signal: controller.signal });
  running.catch(() => {});
  await until(() => childrenOf(process.pid, 'ffmpeg').length, (count) => count > 0); // prettier-ignore
  const reason = new Error('the service is stopping');
  controller.abort(reason);
  await expect(running).rejects.toBe(reason);
  expect(childrenOf(process.pid, 'ffmpeg')).toEqual([]);
  expect(server.requests).toEqual([]);
});

test('the key → in no error, even where the server repeats it', async () => {
  const reply = refusal(401, `Incorrect API key provided: ${apiKey}. You can find your key at …`);
  const { server, recognizer } = await serve(inTurn(reply));
  const error = await errorOf(recognizer.recognize(audio, { signal: goesOn }));
  expect(server.requests[0]!.headers.authorization).toBe(`Bearer ${apiKey}`);
  expect(error.message).toContain('401 Incorrect API key provided: …. You can');
  expect(inspect(error, { depth: 20, showHidden: true, getters: true })).not.toContain(apiKey);
});

const wrongKey = refusal(403, 'Invalid API key');
test.each<[string, Reply, Reply, RegExp | undefined]>([
  ['refuses the key as OpenAI does', refusal(401, 'no', undefined, 'invalid_api_key'), refusal(401, 'no'), /refuses the key. Set OPENAI_API_KEY/], // prettier-ignore
  ['refuses the key as speaches does', wrongKey, wrongKey, /refuses the key. Set OPENAI_API_KEY/],
  ['lets the key not see its models', refusal(401, 'Missing scopes: model.read'), fine, undefined],
  ['has no list of models', refusal(404, 'Not Found'), fine, undefined],
  ['lists its models', { status: 200, body: { object: 'list', data: [] } }, fine, undefined],
  ['is broken', { status: 500, body: 'oops' }, fine, undefined],
])('check of a server that %s', async (_, reply, ofRecordings, message) => {
  const { recognizer, server } = await serve(({ path }) => (path === '/v1/models' ? reply : ofRecordings));
  if (message === undefined) await recognizer.check();
  else await expect(recognizer.check()).rejects.toThrow(message);
  expect(server.requests.every(({ file }) => file?.name === 'silence.wav')).toBe(true);
});

test('ffmpeg is not installed → check and recognize say what to install', async () => {
  const { recognizer } = await serve(inTurn(fine), { isNear: false });
  const recording = await long();
  const path = process.env['PATH'];
  process.env['PATH'] = folder;
  try {
    await expect(recognizer.check()).rejects.toThrow('apt-get install ffmpeg');
    const error = await errorOf(recognizer.recognize(recording, { signal: goesOn }));
    expect(error).toMatchObject({ code: 'recognizer_error', retryable: true });
    expect(error.message).toContain('apt-get install ffmpeg');
  } finally {
    process.env['PATH'] = path;
  }
});
