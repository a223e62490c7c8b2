/** One odd answer among others: it counts for its piece, or its recording, and for no more. */
import { join } from 'node:path';
import { createOpenAi } from '../../../../src/recognizers/openai/openai.ts';
import { asRecognizerInput, ffmpeg, sine } from '../../../support/uploads/audio-fixtures.ts';
import { refusal, startSpeechServer } from '../../../support/models/speech-server.ts';
import { expectWellFormed } from '../conformance/conformance.ts';
import { useFolder } from '../../../support/use-folder.ts';
import type { Reply } from '../../../support/models/speech-server.ts';

const folder = useFolder();
const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((each) => each.close()));
});

const signal = new AbortController().signal;
const words: Reply = { status: 200, body: { text: 'Yes.', words: [{ word: 'Yes', start: 5, end: 6 }] } };
const segments: Reply = { status: 200, body: { text: 'Oh no.', segments: [{ text: 'Oh no.', start: 5, end: 6 }] } };
const text: Reply = { status: 200, body: { text: 'Hello there.' } };

/** Answers one after the other, the last one again and again; two pieces for `verbose_json`, one after the other. */
async function serve(replies: Reply[], { seconds = 40, model = 'whisper-1' } = {}) {
  const script = (_: unknown, earlier: number) => replies[Math.min(earlier, replies.length - 1)]!;
  const server = await startSpeechServer({ script });
  const recognizer = createOpenAi({ server: { baseUrl: server.url, apiKey: undefined, model }, mostRequests: 1 });
  closing.push(recognizer, server);
  const file = await ffmpeg(...sine(seconds), ...asRecognizerInput, join(folder, 'decoded'));
  const audio = { file, durationMs: seconds * 1000, silences: [] };
  const recognize = async () => {
    const transcript = await recognizer.recognize(audio, { signal });
    expectWellFormed(transcript, audio.durationMs);
    return transcript.segments;
  };
  return { recognize, formats: () => server.requests.map(({ fields }) => fields['response_format']![0]!) };
}

test.each<[string, object]>([
  ['text', { text: '♪', segments: [], words: [] }],
  ['segment', { text: '♪', segments: [{ text: '♪', start: 0, end: 9 }] }],
])(
  'only a marker of music in a %s first → no speech, and the rest is asked for words, in pieces with an overlap',
  async (_, body) => {
    const music: Reply = { status: 200, body };
    const { recognize, formats } = await serve([music, words]);
    expect((await recognize()).map((segment) => segment.text)).toEqual(['Yes.']);
    expect(formats()).toEqual(['verbose_json', 'verbose_json']);
  },
);

test('a piece without word times among others → has no words; the others keep theirs', async () => {
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

test.each<[string, Reply]>([
  ['refuses verbose_json', refusal(400, 'not now', 'response_format')],
  ['answers it without times', text],
])('a server that once %s → json for that recording, verbose_json for the next', async (_, reply) => {
  const { recognize, formats } = await serve([reply, text, text, text, text, text, text, text, words], { seconds: 60 });
  await recognize();
  const asked = formats();
  expect(asked).toEqual(['verbose_json', 'json', 'json', 'json']);
  await recognize();
  expect(formats()[asked.length]).toBe('verbose_json');
});

test('a diarizing model that answers a long piece without times → json, in short pieces', async () => {
  const { recognize, formats } = await serve([text], { seconds: 60, model: 'x-diarize' });
  const heard = await recognize();
  expect(formats()).toEqual(['diarized_json', 'json', 'json', 'json']);
  expect(heard.map(({ startMs, endMs }) => endMs - startMs).every((ms) => ms <= 28_000)).toBe(true);
});

test.each([
  ['whisper-1', 'verbose_json'],
  ['x-diarize', 'diarized_json'],
])('%s that answers a short piece without times → taken: json would tell no more', async (model, format) => {
  const { recognize, formats } = await serve([text], { seconds: 9, model });
  expect(await recognize()).toMatchObject([{ text: 'Hello there.', startMs: 0, words: [] }]);
  expect(formats()).toEqual([format]);
});

/** Answers 500 to so many pieces. */
async function serveBreaking(pieces: number, model = 'whisper-1') {
  const broken: Reply = { status: 500, body: 'Internal Server Error' };
  let count = 0;
  const server = await startSpeechServer({
    script: ({ file }) => {
      if (file!.name === 'silence.wav') return text;
      count += 1;
      return count <= pieces ? broken : words;
    },
  });
  const recognizer = createOpenAi({
    server: { baseUrl: server.url, apiKey: undefined, model },
    mostRequests: 1,
  });
  closing.push(recognizer, server);
  const file = await ffmpeg(...sine(40), ...asRecognizerInput, join(folder, 'breaking'));
  const told: number[][] = [];
  const onUncertain = ({ startMs, endMs }: { startMs: number; endMs: number }) => told.push([startMs, endMs]);
  const recognize = () => recognizer.recognize({ file, durationMs: 40_000, silences: [] }, { signal, onUncertain });
  return { recognize, told, sent: () => server.requests.map((request) => request.file!.name) };
}

test('a server that answers 500 to a long piece → short pieces after two answers', async () => {
  const { recognize, sent } = await serveBreaking(2, 'x-diarize');
  expect((await recognize()).segments.map((segment) => segment.text)).toEqual(['Yes.', 'Yes.']);
  expect(sent()).toEqual(['audio.wav', 'audio.wav', 'silence.wav', 'audio.wav', 'audio.wav']);
});

test('a short piece at which a server breaks while it hears others → no words there, and that is told', async () => {
  const { recognize, told } = await serveBreaking(2);
  expect((await recognize()).segments).toMatchObject([{ text: 'Yes.', startMs: 32_000 }]);
  expect(told).toEqual([[0, 28_000]]);
});

test('a server that breaks at all pieces, and hears silence → its error, not an empty transcript', async () => {
  await expect((await serveBreaking(Infinity)).recognize()).rejects.toMatchObject({ retryable: true });
});
