/** Servers that differ from OpenAI's, each as it answers, and single answers that differ from the others. */
import { refusal } from '../../../support/models/speech-server.ts';
import { expectWellFormed } from '../conformance/conformance.ts';
import { apiKey, formatOf, inTurn, isSilence, signal, useAsking } from './asking.ts';
import type { Span } from '../../../../src/audio/chunks.ts';
import type { UncertainStretch } from '../../../../src/recognizers/recognizer.ts';
import type { Received, Reply } from '../../../support/models/speech-server.ts';
import type { AskingOptions } from './asking.ts';

const { ask, sound } = useAsking();

test.each([
  [
    'writes NaN, as Python does',
    'application/json',
    `{"text": "NaN, he said", "words": [{"word": "NaN", "start": 1, "end": 2}, {"word": "he", "start": NaN, "end": Infinity},
      {"word": "said", "start": 3, "end": 4, "probability": -Infinity}]}`,
  ],
  [
    'calls its JSON plain text',
    'text/plain; charset=utf-8',
    '{"text": "NaN, he said", "segments": [{"text": "NaN, he said", "start": 1, "end": 4}]}',
  ],
])('a server that %s → understood', async (_, type, body) => {
  const { server, hear } = await ask(() => ({ status: 200, headers: { 'content-type': type }, body }));
  expect((await hear(9)).segments).toMatchObject([{ text: 'NaN, he said', startMs: 1000, endMs: 4000 }]);
  expect(server.requests.map(formatOf)).toEqual(['verbose_json']);
});

test('a server that refuses response_format altogether, as FastAPI does → asked without', async () => {
  const body = { detail: [{ type: 'extra_forbidden', loc: ['body', 'response_format'] }] };
  const { server, hear } = await ask((request) => (formatOf(request) === undefined ? text : { status: 422, body }));
  expect((await hear(9)).segments).toMatchObject([{ text: 'Hello there.' }]);
  expect(server.requests.map(formatOf)).toEqual(['verbose_json', 'json', undefined]);
});

test('an address of Azure → its version stays at the end, and the key is in the header of Azure', async () => {
  const deployment = '/openai/deployments/whisper';
  const asked: Received[] = [];
  const script = (request: Received) => (asked.push(request), text);
  const { hear } = await ask(script, { path: `${deployment}?api-version=2024-10-21` });
  await hear();
  expect(asked.map(({ path }) => path)).toEqual([`${deployment}/audio/transcriptions?api-version=2024-10-21`]);
  expect(asked[0]!.headers).toMatchObject({ 'api-key': apiKey });
  expect(asked[0]!.headers.authorization).toBeUndefined();
});

const words: Reply = { status: 200, body: { text: 'Yes.', words: [{ word: 'Yes', start: 5, end: 6 }] } };
const segments: Reply = { status: 200, body: { text: 'Oh no.', segments: [{ text: 'Oh no.', start: 5, end: 6 }] } };
const text: Reply = { status: 200, body: { text: 'Hello there.' } };

/** Two chunks for `verbose_json`, one after the other. */
async function serve(replies: Reply[], { seconds = 40, ...options }: AskingOptions & { seconds?: number } = {}) {
  const { server, hear } = await ask(inTurn(...replies), { mostRequests: 1, ...options });
  const recognize = async () => {
    const transcript = await hear(seconds);
    expectWellFormed(transcript, seconds * 1000);
    return transcript.segments;
  };
  return { recognize, formats: () => server.requests.map(formatOf) };
}

test('only a marker of music first → no speech, and the rest is asked for words, in chunks with an overlap', async () => {
  const music: Reply = { status: 200, body: { text: '♪', segments: [{ text: '♪', start: 0, end: 9 }] } };
  const { recognize, formats } = await serve([music, words]);
  expect((await recognize()).map((segment) => segment.text)).toEqual(['Yes.']);
  expect(formats()).toEqual(['verbose_json', 'verbose_json']);
});

test('a chunk without word times among others → has no words; the others keep theirs', async () => {
  const { recognize } = await serve([words, segments]);
  expect(await recognize()).toMatchObject([
    { text: 'Yes.', words: [{ text: 'Yes.', startMs: 5000, endMs: 6000 }] },
    { text: 'Oh no.', startMs: 33_000, endMs: 34_000, words: [] },
  ]);
  const other = await serve([segments, segments, words]);
  expect(await other.recognize()).toMatchObject([
    { text: 'Oh no.', startMs: 5000, words: [] },
    { text: 'Yes.', words: [{ text: 'Yes.', startMs: 33_000 }] },
  ]);
});

const noVerbose = refusal(400, 'not compatible with this model', 'response_format');
test.each<[string, string, Reply, string]>([
  ['refuses verbose_json', 'whisper-1', noVerbose, 'verbose_json'],
  ['answers verbose_json without times', 'whisper-1', text, 'verbose_json'],
  ['answers diarized_json without times', 'x-diarize', text, 'diarized_json'],
])('a model that %s → asked for json, in short chunks; the next recording anew', async (_, model, reply, format) => {
  const script = (request: Received) => (formatOf(request) === 'json' ? text : reply);
  const { server, hear } = await ask(script, { model, mostRequests: 1 });
  for (const _attempt of [1, 2]) {
    const transcript = await hear(60);
    expectWellFormed(transcript, 60_000);
    const said = transcript.segments.map((segment) => segment.text).join(' ');
    expect(said).toBe('Hello there. Hello there. Hello there.');
    for (const { startMs, endMs } of transcript.segments) expect(endMs - startMs).toBeLessThanOrEqual(28_000);
  }
  const formats = [format, 'json', 'json', 'json'];
  expect(server.requests.map(formatOf)).toEqual([...formats, ...formats]);
  expect(server.requests.at(-1)!.fields).toEqual({ model: [model], response_format: ['json'] });
});

test('verbose_json refused in the middle → begun again, and progress rises still', async () => {
  const script = (request: Received, earlier: number) =>
    earlier === 0 ? words : formatOf(request) === 'verbose_json' ? noVerbose : text;
  const percents: number[] = [];
  const { hear } = await ask(script, { mostRequests: 1 });
  await hear(90, { onProgress: (percent) => percents.push(percent) });
  expect(percents).toEqual([...new Set(percents)].sort((a, b) => a - b));
  expect(percents[0]).toBeGreaterThan(10);
});

test('segments without words → their confidence; chunks are sent without overlap, the first one again', async () => {
  const body = { text: 'Oh no.', segments: [{ text: 'Oh no.', start: 5, end: 6, avg_logprob: -0.25 }] };
  const { server, hear } = await ask(inTurn({ status: 200, body }), { mostRequests: 1 });
  const transcript = await hear(90);
  expect(transcript.segments).toHaveLength(4);
  for (const { words: none, confidence } of transcript.segments) {
    expect(none).toEqual([]);
    expect(confidence).toBeCloseTo(Math.exp(-0.25), 3);
  }
  const sent = server.requests.slice(1).map(({ file }) => file!.bytes.length - 44);
  expect(sent.reduce((sum, bytes) => sum + bytes)).toBe(90_000 * 32);
});

test('a short chunk that is answered without times → taken: json would tell no more', async () => {
  const { recognize, formats } = await serve([text], { seconds: 9, model: 'x-diarize' });
  expect(await recognize()).toMatchObject([{ text: 'Hello there.', startMs: 0, words: [] }]);
  expect(formats()).toEqual(['diarized_json']);
});

/** The server breaks at some of what it gets, and hears silence. @param breaks at the n-th chunk */
async function serveBreaking(breaks: (earlier: number) => boolean, seconds = 40) {
  const sent: string[] = [];
  const script = (request: Received): Reply => {
    sent.push(isSilence(request) ? 'silence' : `${Math.round(request.file!.bytes.length / 32_000)} s`);
    const earlier = sent.filter((each) => each !== 'silence').length - 1;
    return isSilence(request) || !breaks(earlier) ? words : { status: 500, body: 'CUDA out of memory' };
  };
  const { recognizer } = await ask(script, { mostRequests: 1, retries: 1 });
  const told: UncertainStretch[] = [];
  const onUncertain = (stretch: UncertainStretch) => void told.push(stretch);
  const recognize = async (language?: string, silences: Span[] = []) =>
    recognizer.recognize({ ...(await sound(seconds)), silences }, { signal, language, onUncertain });
  return { sent, told, recognize };
}

test('a chunk that was refused at each try → asked for again in short chunks when the rest is done', async () => {
  const { recognize, told, sent } = await serveBreaking((earlier) => earlier < 2, 150);
  expect((await recognize('en')).segments).toHaveLength(6);
  expect(told).toEqual([]);
  expect(sent.slice(0, 4)).toEqual(['121 s', '121 s', 'silence', '31 s']);
  expect(sent.slice(4, 9)).toEqual(['28 s', '28 s', '28 s', '28 s', '8 s']);
});

test('what stays refused, with up to three seconds of a voice → told as unheard; with more, the attempt fails, to be repeated', async () => {
  const breaks = (earlier: number) => [0, 1, 3, 4].includes(earlier);
  const { recognize, told } = await serveBreaking(breaks);
  const { segments } = await recognize(undefined, [{ startMs: 2_500, endMs: 35_000 }]);
  expect(segments).toMatchObject([{ text: 'Yes.', startMs: 27_400 }]);
  expect(told).toEqual([{ startMs: 0, endMs: 22_400, why: 'refused' }]);
  const other = (await serveBreaking(breaks)).recognize(undefined, [{ startMs: 4_500, endMs: 35_000 }]);
  await expect(other).rejects.toMatchObject({
    retryable: true,
    message: expect.stringContaining('CUDA out of memory'),
  });
});

test('a server that breaks at all chunks, and hears silence → its error, not an empty transcript', async () => {
  await expect((await serveBreaking(() => true)).recognize()).rejects.toMatchObject({ retryable: true });
});
