/** A server on loopback that hears with recognizers of this project: what comes back is in the audio that was sent. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from '../../../support/run/jest.ts';
import { decodeAudio } from '../../../../src/audio/decode.ts';
import { createSlots } from '../../../../src/recognizers/in-chunks.ts';
import { createOpenAi } from '../../../../src/recognizers/openai/openai.ts';
import { createSherpaOnnx } from '../../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';
import { asRecognizerInput, ffmpeg, sine } from '../../../support/uploads/audio-fixtures.ts';
import { refusal, startSpeechServer } from '../../../support/models/speech-server.ts';
import { makeTinySenseVoice } from '../../../support/models/tiny/sense-voice.ts';
import { speakTones } from '../../../support/models/tiny/spoken-tones.ts';
import { expectWellFormed, recognizerConformance } from '../conformance/conformance.ts';
import { cutConformance } from '../conformance/cuts.ts';
import { speechConformance } from '../conformance/speech.ts';
import { toneSpeech } from '../conformance/tones.ts';
import { useFolder } from '../../../support/use-folder.ts';
import type { DecodedAudio, Recognizer } from '../../../../src/recognizers/recognizer.ts';
import type { Received, RunningSpeechServer, SpeechServerOptions } from '../../../support/models/speech-server.ts';
import type { Tone } from '../../../support/models/tiny/spoken-tones.ts';

const folder = useFolder();
const tinyModel = await makeTinySenseVoice(join(folder, 'model'));
const closing: { close(): Promise<void> }[] = [];
afterAll(() => Promise.all(closing.map((each) => each.close())));

function askingFor(
  server: RunningSpeechServer,
  model = 'whisper-1',
  apiKey?: string,
  atOnce = 4,
  isNear = true,
): Recognizer {
  const recognizer = createOpenAi({ server: { baseUrl: server.url, apiKey, model }, mostRequests: atOnce, isNear });
  closing.push(recognizer);
  return recognizer;
}

/** One for all servers: each other one would load the model anew. */
const listener = createSherpaOnnx({ folder: tinyModel, slots: createSlots(1) });
closing.push(listener);
const hearsTones = await toneServer();
const tones = await toneSpeech(folder);
recognizerConformance('openai', () => askingFor(hearsTones), tones);
cutConformance('openai', () => askingFor(hearsTones), 28_000, tones);
// test/src/worker/openai.test.ts sends a voice.
speechConformance('openai', () => askingFor(hearsTones), tones);

const signal = new AbortController().signal;
async function toneServer(options: SpeechServerOptions = {}): Promise<RunningSpeechServer> {
  const server = await startSpeechServer({ recognizer: listener, ...options });
  closing.push(server);
  return server;
}
const decodeLimits = { maxDurationMs: 3_600_000, timeLimitMs: 60_000 };
async function spoken(name: string, tones: readonly Tone[]): Promise<DecodedAudio> {
  const { file: input } = await speakTones(folder, name, tones);
  const output = join(folder, `${name}.s16le`);
  return { file: output, ...(await decodeAudio({ input, output, ...decodeLimits })) };
}
/** With pauses in which neighbours still hear a little of each other. */
const withShortPauses = (audio: DecodedAudio): DecodedAudio => ({
  ...audio,
  silences: audio.silences.map(({ startMs, endMs }) => {
    const middleMs = (startMs + endMs) / 2;
    return { startMs: middleMs - 200, endMs: middleMs + 200 };
  }),
});
const tonesOf = (count: number) => Array.from({ length: count }, (_, i): Tone => (i % 3 === 0 ? 'low' : 'high'));
const textsOf = (transcript: { segments: { text: string }[] }) => transcript.segments.map(({ text }) => text).join(' ');
/** What was said, without the sentences that the server made of it. */
const plain = (text: string) => text.toLowerCase().replaceAll('.', '').split(' ');
async function durationMs({ file }: Received): Promise<number> {
  const input = join(folder, file!.name);
  await writeFile(input, file!.bytes);
  return (await decodeAudio({ input, output: `${input}.s16le`, ...decodeLimits })).durationMs;
}

test('a recording of several chunks → sent as FLAC, in parallel; no word lost or doubled, each where it was said', async () => {
  const server = await toneServer();
  const tones = tonesOf(120);
  const audio = await spoken('long', tones);
  const percents: number[] = [];
  const recognizer = askingFor(server, 'whisper-1', 'sk-of-a-test', 4, false);
  const transcript = await recognizer.recognize(audio, { signal, onProgress: (percent) => percents.push(percent) });
  expectWellFormed(transcript, audio.durationMs);
  expect(transcript.language).toBe('en');
  const words = transcript.segments.flatMap((segment) => segment.words);
  expect(plain(words.map(({ text }) => text).join(' '))).toEqual(tones);
  words.forEach(({ startMs }, index) => expect(Math.abs(startMs - (index * 1000 + 300))).toBeLessThanOrEqual(120));
  // As the text has them; the server's words have neither.
  expect(textsOf(transcript)).toMatch(/^Low high[a-z ]*\. [LH][a-z ]+\. /);
  expect(percents.length).toBeGreaterThan(1);

  expect(server.requests.length).toBeGreaterThanOrEqual(3);
  expect(server.peak()).toBeGreaterThan(1);
  expect(server.peak()).toBeLessThanOrEqual(4);
  for (const request of server.requests) {
    const { method, path, headers, fields, file } = request;
    expect({ method, path }).toEqual({ method: 'POST', path: '/v1/audio/transcriptions' });
    expect(headers.authorization).toBe('Bearer sk-of-a-test');
    expect(fields).toEqual({
      model: ['whisper-1'],
      response_format: ['verbose_json'],
      'timestamp_granularities[]': ['word', 'segment'],
    });
    // What is short is not worth the work.
    const format = (await durationMs(request)) > 10_000 ? 'flac' : 'wav';
    expect(file).toMatchObject({ name: `audio.${format}`, type: `audio/${format}` });
  }
});

test.each([
  ['far away', 'flac', 26, false],
  ['far away, short', 'wav', 7, false],
  ['near', 'wav', 26, true],
])(
  'what is sent, %s → %s: the samples of the chunk, exactly; a header that tells the length',
  async (_, format, seconds, isNear) => {
    const server = await toneServer();
    const audio = await spoken('exact', tonesOf(seconds));
    await askingFor(server, 'whisper-1', undefined, 4, isNear).recognize(audio, { signal });
    const { bytes, name, type } = server.requests[0]!.file!;
    expect({ name, type }).toEqual({ name: `audio.${format}`, type: `audio/${format}` });
    const input = join(folder, `exact-${name}`);
    await writeFile(input, bytes);
    await ffmpeg('-i', input, ...asRecognizerInput, `${input}.raw`);
    expect((await readFile(`${input}.raw`)).equals(await readFile(audio.file))).toBe(true);
    // STREAMINFO: 36 bits of samples, of which the last 32 begin at byte 22 (RFC 9639, section 8.2).
    if (format === 'flac') expect(bytes.readUInt32BE(22)).toBe(audio.durationMs * 16);
    else expect(bytes.readUInt32LE(40)).toBe(audio.durationMs * 32);
  },
);

test('50 ms → sent with silence up to more than a second, which whisper.cpp asks for; words within the 50 ms', async () => {
  const script = () => ({ status: 200, body: { text: 'Oh.', words: [{ word: 'Oh', start: 0.02, end: 0.9 }] } });
  const server = await toneServer({ script });
  const file = await ffmpeg(...sine(0.05), ...asRecognizerInput, join(folder, 'short'));
  const transcript = await askingFor(server).recognize({ file, durationMs: 50, silences: [] }, { signal });
  expect(await durationMs(server.requests[0]!)).toBe(1100);
  expect(transcript.segments).toMatchObject([{ text: 'Oh.', startMs: 20, endMs: 50 }]);
});

test('verbose_json refused in the middle → begun again, and progress rises still', async () => {
  const isRefused = (format: string | undefined, earlier: number) => format === 'verbose_json' && earlier > 0;
  const server = await toneServer({
    script: ({ fields }, earlier) =>
      isRefused(fields['response_format']?.[0], earlier) ? refusal(400, 'no', 'response_format') : undefined,
  });
  const tones = tonesOf(90);
  const audio = await spoken('refused', tones);
  const recognizer = createOpenAi({
    server: { baseUrl: server.url, apiKey: undefined, model: 'x' },
    mostRequests: 1,
  });
  closing.push(recognizer);
  const percents: number[] = [];
  const transcript = await recognizer.recognize(audio, { signal, onProgress: (percent) => percents.push(percent) });
  expect(plain(textsOf(transcript))).toEqual(tones);
  expect(percents).toEqual([...new Set(percents)].sort((a, b) => a - b));
  expect(percents[0]).toBeGreaterThan(10);
});

test('a server without word times → its segments, none lost or doubled, no words; without overlap after the first chunk', async () => {
  const server = await toneServer({ tells: 'segments' });
  const tones = tonesOf(90);
  const audio = withShortPauses(await spoken('segments', tones));
  const transcript = await askingFor(server, 'whisper-1', undefined, 1).recognize(audio, { signal });
  expectWellFormed(transcript, audio.durationMs);
  expect(plain(textsOf(transcript))).toEqual(tones);
  expect(transcript.segments.flatMap((segment) => segment.words)).toEqual([]);
  for (const { confidence } of transcript.segments) expect(confidence).toBeCloseTo(Math.exp(-0.25), 3);

  let sentMs = 0;
  for (const request of server.requests.slice(1)) sentMs += await durationMs(request);
  expect(sentMs).toBe(audio.durationMs);
});

test.each<[string, SpeechServerOptions, string[]]>([
  ['refuses verbose_json', { formats: ['json'] }, ['verbose_json', 'json', 'json']],
  ['answers it without times', { tells: 'text' }, ['verbose_json', 'json', 'json']],
])('a model that %s → asked for json, in short chunks that share their time', async (_, options, formats) => {
  const server = await toneServer(options);
  const tones = tonesOf(50);
  const audio = withShortPauses(await spoken('json', tones));
  const recognizer = askingFor(server, 'whisper-1', undefined, 1);
  for (const _attempt of [1, 2]) {
    const transcript = await recognizer.recognize(audio, { signal });
    expectWellFormed(transcript, audio.durationMs);
    expect(plain(textsOf(transcript))).toEqual(tones);
    expect(transcript.segments.flatMap((segment) => segment.words)).toEqual([]);
    expect(transcript.language).toBeUndefined();
  }
  const asked = server.requests.map(({ fields }) => fields['response_format']![0]!);
  expect(asked).toEqual([...formats, ...formats]);
  expect(server.requests.at(-1)!.fields).toEqual({ model: ['whisper-1'], response_format: ['json'] });
});

const conversation = (seconds: number) => ({
  ...{ task: 'transcribe', duration: seconds, text: 'Good morning. Hello! How are you? Fine.' },
  segments: [
    { type: 'transcript.text.segment', id: 'seg_1', start: 0.5, end: 1.5, speaker: 'B', text: 'Good morning.' },
    { type: 'transcript.text.segment', id: 'seg_2', start: 2, end: 3, speaker: 'A', text: 'Hello!' },
    { type: 'transcript.text.segment', id: 'seg_3', start: 3, end: 4.25, speaker: 'B', text: ' How are you?' },
    { type: 'transcript.text.segment', id: 'seg_4', start: 4.5, end: 5, speaker: 'C', text: 'Fine.' },
  ],
});

test.each([
  [20, 1, ['S1', 'S2', 'S1', 'S3']],
  // Nobody says whether the A of one chunk is that of the next.
  [600, 2, new Array<undefined>(8).fill(undefined)],
])('a diarizing model, %i s in %i chunks → speakers %j', async (seconds, chunks, speakers) => {
  const script = () => ({ status: 200, body: conversation(seconds) });
  const server = await toneServer({ script });
  const file = await ffmpeg(...sine(seconds), ...asRecognizerInput, join(folder, 'sine'));
  const audio = { file, durationMs: seconds * 1000, silences: [] };
  const transcript = await askingFor(server, 'gpt-4o-transcribe-diarize').recognize(audio, { signal });
  expectWellFormed(transcript, audio.durationMs);
  expect(transcript.segments.map(({ speaker }) => speaker)).toEqual(speakers);
  expect(transcript.segments.slice(0, 2)).toMatchObject([
    { startMs: 500, endMs: 1500, text: 'Good morning.' },
    { startMs: 2000, endMs: 3000, text: 'Hello!' },
  ]);
  expect(server.requests).toHaveLength(chunks);
  for (const { fields, file: sent } of server.requests) {
    expect(fields).toMatchObject({ response_format: ['diarized_json'], chunking_strategy: ['auto'] });
    expect(sent!.bytes.length).toBeLessThan(25_000_000);
  }
});

test('no sound at all → nothing is sent', async () => {
  const server = await toneServer();
  const file = join(folder, 'nothing');
  // -64 dB.
  await writeFile(file, new Uint8Array(new Int16Array(16 * 3000).fill(-20).buffer));
  expect(await askingFor(server).recognize({ file, durationMs: 3000, silences: [] }, { signal })).toEqual({
    segments: [],
  });
  expect(server.requests).toHaveLength(0);
});

test('other variables of OpenAI → not read: nothing of them, and nothing about this machine, is sent; nothing is printed', async () => {
  const others = {
    OPENAI_ORG_ID: 'org-other',
    OPENAI_PROJECT_ID: 'proj-other',
    OPENAI_ADMIN_KEY: 'sk-admin-other',
    OPENAI_API_KEY: 'sk-other',
    OPENAI_BASE_URL: 'http://127.0.0.1:9/other',
    OPENAI_CUSTOM_HEADERS: 'x-other: yes\nauthorization: Bearer other',
    OPENAI_LOG: 'debug',
  };
  const printed = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) => jest.spyOn(console, name));
  Object.assign(process.env, others);
  try {
    const server = await toneServer();
    await askingFor(server).recognize(await spoken('private', ['low']), { signal });
    const { host, 'content-type': type, 'content-length': length, ...headers } = server.requests[0]!.headers;
    expect([host, type, length].join()).not.toContain('other');
    expect(headers).toEqual({
      accept: 'application/json',
      authorization: 'Bearer none',
      connection: 'keep-alive',
      ...{
        'accept-encoding': 'gzip, deflate',
        'accept-language': '*',
        'sec-fetch-mode': 'cors',
        'user-agent': 'undici',
      },
    });
    for (const print of printed) expect(print).not.toHaveBeenCalled();
  } finally {
    for (const name of Object.keys(others)) delete process.env[name];
    for (const print of printed) print.mockRestore();
  }
});
