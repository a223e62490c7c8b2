/** Servers that are busy, broken, hostile or away, or that refuse everything until their operator does something. */
import { inspect } from 'node:util';
import { createOpenAi } from '../../../../src/recognizers/openai/openai.ts';
import { judge } from '../../../../src/recognizers/openai/refusal.ts';
import { RecognizerError } from '../../../../src/recognizers/recognizer.ts';
import { dependencyErrorOf } from '../../../../src/ops/dependency-error.ts';
import { steadyPort } from '../../../rig/ports.ts';
import { refusal } from '../../../support/models/speech-server.ts';
import { serve } from '../../../support/serve.ts';
import { until } from '../../../support/until.ts';
import { apiKey, fine, formatOf, inTurn, isSilence, signal, useAsking } from './asking.ts';
import type { Received, Reply } from '../../../support/models/speech-server.ts';

const { ask, closing, sound } = useAsking();
const isUpload = (path: string) => path.endsWith('/audio/transcriptions');
const without = { status: 404, body: 'Not Found' };
const errorOf = async (running: Promise<unknown>): Promise<RecognizerError> => {
  const error = await running.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RecognizerError);
  return error as RecognizerError;
};

test.each<[string, Reply]>([
  ['before the answer', 'cut the connection'],
  ['within the answer', 'cut the answer'],
])('a connection that breaks %s, then fine → the same is sent again', async (_, first) => {
  const { server, hear } = await ask(inTurn(first, fine));
  expect((await hear()).segments).toMatchObject([{ text: 'fine', startMs: 100 }]);
  const [sent, again, ...more] = server.requests;
  expect(again!.file!.bytes.equals(sent!.file!.bytes)).toBe(true);
  expect(more).toEqual([]);
});

test.each<[string, Reply, string]>([
  ['413', { status: 413, body: '<html>\n<h1>413 Request Entity\u0007 Too Large</h1></html>' }, 'Request Entity'],
  ['400', refusal(400, 'Audio file might be corrupted', 'file'), '400 Audio file might be corrupted'],
  ['the way of FastAPI', { status: 422, body: { detail: [{ loc: ['body', 'model'] }] } }, '"body","model"'],
])('refused: %s → RecognizerError with what the server said, not retryable, asked once', async (_, reply, message) => {
  const { server, hear } = await ask(inTurn(reply));
  const error = await errorOf(hear());
  expect(error).toMatchObject({ code: 'recognizer_error', retryable: false });
  expect(error.message).toContain(message);
  expect(error.message).toMatch(/^127\.0\.0\.1:\d+ answered \d+ [^\p{Cc}]+$/u);
  expect(server.requests).toHaveLength(1);
});

test.each<[string, Reply, RegExp]>([
  ['HTML', { status: 200, body: '<html>Welcome to our portal</html>' }, /something else than JSON \(text\/html\)$/],
  ['another shape', { status: 200, body: { transcript: 'so secret' } }, /something else than a transcript$/],
  ['an answer without end', 'hardly end', /no end of the answer$/],
])('rubbish: %s → asked once; RecognizerError, retryable, that quotes nothing of it', async (_, reply, message) => {
  const { server, hear } = await ask(inTurn(reply));
  const error = await errorOf(hear());
  expect(error).toMatchObject({ code: 'recognizer_error', retryable: true });
  expect(error.message).toMatch(message);
  expect(server.requests).toHaveLength(1);
  await until(server.open, (open) => open === 0);
  expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/so sec|portal/);
});

test('HTTP_PROXY, and a server elsewhere → the proxy is asked for it, without a tunnel, which it may allow to 443 only', async () => {
  const asked: string[] = [];
  const proxy = await serve((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(403).end();
  });
  const proxies = { http: proxy.url, https: '', none: '' };
  const { hear } = await ask(inTurn(fine), {
    server: { baseUrl: 'http://gpu:8000/v1', apiKey, model: 'whisper-1', proxies },
  });
  expect((await errorOf(hear())).message).toMatch(/^gpu:8000 answered 403/);
  expect(asked).toEqual(['POST http://gpu:8000/v1/audio/transcriptions']);
});

const wrongKey = refusal(403, 'Invalid API key');
test.each<[string, Reply, Reply, RegExp | undefined]>([
  ['refuses the key as OpenAI does', refusal(401, 'no', undefined, 'invalid_api_key'), refusal(401, 'no'), /refuses the key. Set OPENAI_API_KEY/], // prettier-ignore
  ['refuses the key as speaches does', wrongKey, wrongKey, /refuses the key. Set OPENAI_API_KEY/],
  ['lets the key not see its models', refusal(401, 'Missing scopes: model.read'), fine, undefined],
])('check of a server that %s', async (_, reply, ofRecordings, message) => {
  const { recognizer, server } = await ask(({ path }) => (path === '/v1/models' ? reply : ofRecordings));
  if (message === undefined) await recognizer.check();
  else await expect(recognizer.check()).rejects.toThrow(message);
  expect(server.requests.every(isSilence)).toBe(true);
});

test.each<[string, Reply, string, 'refused' | 'server']>([
  ['a wrong key, at OpenAI', refusal(401, `Incorrect API key: ${apiKey}`, undefined, 'invalid_api_key'), '401 Incorrect API key: …', 'refused'], // prettier-ignore
  ['a wrong key, at speaches', { status: 403, body: { detail: 'Invalid API key' } }, '403 Invalid API key', 'refused'],
  ['a wrong key, at vLLM', { status: 401, body: { error: 'Unauthorized' } }, '401 Unauthorized', 'refused'],
  ['a bill that was not paid', { status: 402, body: 'Payment Required' }, '402 Payment Required', 'refused'],
  ['a quota that is used up', refusal(429, 'You exceeded your quota', undefined, 'insufficient_quota'), '429 You exceeded your quota', 'refused'], // prettier-ignore
  ['a model that speaches has not', { status: 404, body: { detail: "Model 'x' is not installed locally" } }, "404 Model 'x' is not installed locally", 'refused'], // prettier-ignore
  ['an address that has moved', { status: 307, headers: { location: 'http://127.0.0.1:9/' }, body: 'moved' }, '307 moved', 'refused'], // prettier-ignore
  ['502, as proxies say for a server that is gone', { status: 502, body: 'Bad Gateway' }, '502 Bad Gateway', 'server'],
])('%s → no attempt is spent, and why is told, until the server hears', async (_, reply, said, reason) => {
  let isMended = false;
  const answer = ({ path }: Received) => (!isUpload(path) ? without : isMended ? fine : reply);
  const { server, recognizer, hear, host } = await ask(answer, {
    model: 'x',
    ...(reason === 'server' && { retries: 0 }),
  });
  // Nobody asked yet, so nobody knows.
  expect(await recognizer.whyAway!()).toBeUndefined();
  const message = `${host} answered ${said}`;
  const error = await errorOf(hear());
  expect(error).toMatchObject({ code: 'recognizer_error', message, retryable: true });
  expect(dependencyErrorOf(error) !== undefined).toBe(reason === 'refused');
  expect(inspect(error, { depth: 20, showHidden: true, getters: true })).not.toContain(apiKey);
  expect(server.requests[0]!.headers.authorization).toBe(`Bearer ${apiKey}`);
  expect(server.requests.filter((request) => !isSilence(request))).toHaveLength(1);
  await recognizer.check();
  expect(await recognizer.whyAway!()).toEqual({ reason, message });
  isMended = true;
  expect(await recognizer.whyAway!()).toBeUndefined();
  expect((await hear()).segments).toHaveLength(1);
  // A server that heard the last recording is not asked.
  const asked = server.requests.length;
  expect(await recognizer.whyAway!()).toBeUndefined();
  expect(server.requests).toHaveLength(asked);
});

test.each([
  ['CERT_HAS_EXPIRED', 'operators'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'operators'],
  ['ECONNRESET', 'passing'],
])('a connection that ends with %s → %s', (code, verdict) => {
  const error = new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code }) });
  expect(judge(error)).toBe(verdict);
});

test('a server that is away → a notice, and RecognizerError that says so, retryable; back again → the next recording is recognized', async () => {
  const port = await steadyPort();
  const server = { baseUrl: `http://127.0.0.1:${port}/v1`, apiKey, model: 'whisper-1' };
  const recognizer = createOpenAi({ server, retries: 1 });
  closing.push(recognizer);
  expect(recognizer.notice!()).toBeUndefined();
  await recognizer.check();
  const message = `127.0.0.1:${port} could not be reached: connect ECONNREFUSED 127.0.0.1:${port}`;
  expect(recognizer.notice!()).toBe(message);
  const hear = async () => recognizer.recognize(await sound(2), { signal });
  await expect(hear()).rejects.toMatchObject({ code: 'recognizer_error', retryable: true, message });
  expect(await recognizer.whyAway!()).toEqual({ reason: 'server', message });
  await ask(() => fine, { port });
  await until(
    () => recognizer.whyAway!(),
    (said) => said === undefined,
  );
  expect(recognizer.notice!()).toBeUndefined();
  expect((await hear()).segments).toHaveLength(1);
});

test('a gateway that knows recordings only → not away, whatever it says of the list of models', async () => {
  const { recognizer, hear } = await ask(({ path }) =>
    isUpload(path) ? fine : { status: 502, body: 'no such route' },
  );
  await recognizer.check();
  expect([recognizer.notice!(), await recognizer.whyAway!()]).toEqual([undefined, undefined]);
  expect((await hear()).segments).toHaveLength(1);
});

test('a server that answers nothing in time → away; one that is busy with recordings, but answers the rest → it took too long', async () => {
  let isBusy = true;
  const formats: string[] = [];
  const script = (request: Received): Reply => {
    if (!isUpload(request.path)) return isBusy ? without : 'never answer';
    const format = formatOf(request)!;
    formats.push(format);
    return format === 'verbose_json' ? refusal(400, 'no verbose_json', 'response_format') : 'never answer';
  };
  const { server, recognizer, hear } = await ask(script, { timeLimitMs: () => 1_000 });
  await expect(hear()).rejects.toMatchObject({ code: 'timed_out' });
  // In the format that it knows, and then a second of silence.
  expect(formats).toEqual(['verbose_json', 'json', 'json']);
  expect(await recognizer.whyAway!()).toBeUndefined();
  isBusy = false;
  const message = expect.stringMatching(/could not be reached: .*timeout/) as string;
  await expect(hear()).rejects.toMatchObject({ code: 'recognizer_error', retryable: true, message });
  await until(server.open, (open) => open === 0);
});
