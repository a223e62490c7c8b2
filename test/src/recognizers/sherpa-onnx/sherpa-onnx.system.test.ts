/** The real addon with a model that hears tones (test/support/tiny-model). */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeAudio } from '../../../../src/audio/decode.ts';
import { createSlots } from '../../../../src/recognizers/in-chunks.ts';
import { ModelCopies } from '../../../../src/recognizers/sherpa-onnx/model-copies.ts';
import { readModelFolder } from '../../../../src/recognizers/sherpa-onnx/model-folder.ts';
import { createSherpaOnnx } from '../../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';
import { childrenOf } from '../../../rig/processes.ts';
import { makeEmptyModel } from '../../../support/models/tiny/empty.ts';
import { makeTinySenseVoice } from '../../../support/models/tiny/sense-voice.ts';
import { makeTinyTransducer } from '../../../support/models/tiny/transducer.ts';
import { ffmpeg } from '../../../support/uploads/audio-fixtures.ts';
import { speakTones } from '../../../support/models/tiny/spoken-tones.ts';
import { expectWellFormed, recognizerConformance } from '../conformance/conformance.ts';
import { crashConformance } from '../conformance/crash.ts';
import { cutConformance } from '../conformance/cuts.ts';
import { speechConformance } from '../conformance/speech.ts';
import { toneSpeech } from '../conformance/tones.ts';
import { until } from '../../../support/until.ts';
import { useFolder } from '../../../support/use-folder.ts';
import type { Tone } from '../../../support/models/tiny/spoken-tones.ts';
import type { DecodedAudio, Recognizer, WordlessPart } from '../../../../src/recognizers/recognizer.ts';

const made = useFolder();
const model = await makeTinySenseVoice(join(made, 'model'));
const tones = await toneSpeech(made);

const childrenHere = () => childrenOf(process.pid, 'sherpa-onnx/child-main.ts');
recognizerConformance('sherpa-onnx', () => createSherpaOnnx({ folder: model }), tones);
speechConformance('sherpa-onnx', () => createSherpaOnnx({ folder: model }), tones);
crashConformance('sherpa-onnx', () => createSherpaOnnx({ folder: model }), childrenHere, tones);
cutConformance('sherpa-onnx', () => createSherpaOnnx({ folder: model }), 60_000, tones);

const signal = new AbortController().signal;
const recognizers: Recognizer[] = [];
afterAll(() => Promise.all(recognizers.map((recognizer) => recognizer.close())));

function make(slots = 2): Recognizer {
  const recognizer = createSherpaOnnx({ folder: model, slots: createSlots(slots) });
  recognizers.push(recognizer);
  return recognizer;
}

async function spoken(...tones: Tone[]): Promise<DecodedAudio> {
  const { file: input } = await speakTones(made, 'spoken', tones);
  const output = join(made, `spoken-${recognizers.length}.s16le`);
  return { file: output, ...(await decodeAudio({ input, output, maxDurationMs: 3_600_000, timeLimitMs: 60_000 })) };
}

test('tones → words where they begin, in English as the model says', async () => {
  const transcript = await make().recognize(await spoken('low', 'high', 'low'), { signal });
  expect(transcript.language).toBe('en');
  expectWellFormed(transcript, 3000);
  const words = transcript.segments.flatMap((segment) => segment.words);
  expect(words.map(({ text }) => text)).toEqual(['low', 'high', 'low']);
  words.forEach(({ startMs }, index) => expect(Math.abs(startMs - (index * 1000 + 300))).toBeLessThanOrEqual(120));
});

test('one process, told one language and then another, or none → hears each time as it was told', async () => {
  const recognizer = make(1);
  const audio = await spoken('low', 'high');
  const before = childrenHere().length;
  for (const [language, heard] of [
    ['zh-Hant', 'zh'],
    [undefined, 'en'],
    ['ja', 'ja'],
    ['en-GB', 'en'],
  ])
    // prettier-ignore
    expect(await recognizer.recognize(audio, { signal, language })).toMatchObject({ language: heard });
  expect(childrenHere()).toHaveLength(before + 1);
});

test('a language that the model does not know → LanguageNotKnown, and no process begins; check says so too', async () => {
  const before = childrenHere();
  const known = ['en', 'ja', 'ko', 'yue', 'zh'];
  const recognizer = make();
  const audio = await spoken('low');
  await expect(recognizer.recognize(audio, { signal, language: 'de' })).rejects.toMatchObject({
    ...{ code: 'language_not_supported', retryable: false, known },
  });
  expect(childrenHere()).toEqual(before);
  await recognizer.check('ja');
  await expect(recognizer.check('de')).rejects.toThrow('does not know the language de; it knows en, ja, ko, yue, zh');
});

test('a model that does not tell its languages → knows what the operator says, and nothing else', async () => {
  const folder = await makeTinyTransducer(join(made, 'russian'));
  const russian = createSherpaOnnx({ folder, language: 'ru-RU' });
  recognizers.push(russian);
  await russian.check('ru-RU');
  await expect(russian.check('de')).rejects.toMatchObject({ known: ['ru'] });
  await expect(createSherpaOnnx({ folder }).check('ru')).rejects.toMatchObject({ known: undefined });
});

test('a recording of several chunks → no word lost or doubled at their cuts', async () => {
  const tones = Array.from({ length: 150 }, (_, index): Tone => (index % 3 === 0 ? 'low' : 'high'));
  const transcript = await make().recognize(await spoken(...tones), { signal });
  expect(transcript.segments.flatMap(({ words }) => words.map(({ text }) => text))).toEqual(tones);
});

test('the next recording → the same process, with its model still loaded', async () => {
  const recognizer = make(1);
  const before = childrenHere();
  const audio = await spoken('low');
  await recognizer.recognize(audio, { signal });
  const begun = childrenHere().filter((pid) => !before.includes(pid));
  expect(begun).toHaveLength(1);
  await recognizer.recognize(audio, { signal });
  expect(childrenHere().filter((pid) => !before.includes(pid))).toEqual(begun);
  await recognizer.close();
  expect(childrenHere()).toEqual(before);
});

test('nothing to do for a while → the process ends, and the next recording gets another', async () => {
  const before = childrenHere();
  const recognizer = createSherpaOnnx({ folder: model, slots: createSlots(1), idleMs: 1 });
  recognizers.push(recognizer);
  const audio = await spoken('low');
  const first = await recognizer.recognize(audio, { signal });
  const isGone = () => until(childrenHere, (pids) => pids.length === before.length);
  await isGone();
  expect(await recognizer.recognize(audio, { signal })).toEqual(first);
  await isGone();
});

test('too slow → timed_out, and the child is gone', async () => {
  const before = childrenHere();
  const recognizer = createSherpaOnnx({ folder: model, timeLimitMs: () => 1 });
  const running = recognizer.recognize(await spoken('low'), { signal });
  await expect(running).rejects.toMatchObject({ code: 'timed_out', retryable: true });
  expect(childrenHere()).toEqual(before);
});

test('a model that is not what its files say → check says so before any job is taken, recognizing fails', async () => {
  const files = ['tiny-encoder.onnx', 'tiny-decoder.onnx', 'tiny-tokens.txt'];
  const folder = await makeEmptyModel(join(made, 'impostor'), files, { model_type: 'whisper-tiny' });
  const recognizer = createSherpaOnnx({ folder });
  await expect(recognizer.check()).rejects.toThrow(/was taken for Whisper, and does not run: sherpa-onnx (ended|was)/);
  await expect(recognizer.recognize(await spoken('low'), { signal })).rejects.toThrow(/sherpa-onnx (ended|was killed)/);
});

test('loud, and nothing heard → heard again with silence at both ends, with the same times', async () => {
  const deaf = await makeTinySenseVoice(join(made, 'deaf'), { isDeafToSuddenStarts: true });
  const { file: input } = await speakTones(made, 'sudden', ['low', 'high', 'low']);
  const output = join(made, 'sudden.s16le');
  const sudden = await ffmpeg('-ss', '0.35', '-i', input, join(made, 'sudden-start.wav'));
  const limits = { maxDurationMs: 60_000, timeLimitMs: 600_000 };
  const audio = { file: output, ...(await decodeAudio({ input: sudden, output, ...limits })) };
  const told: WordlessPart[] = [];
  const recognizer = createSherpaOnnx({ folder: deaf });
  recognizers.push(recognizer);
  const { segments } = await recognizer.recognize(audio, { signal, onWordless: (part) => told.push(part) });
  expect(segments.flatMap(({ words }) => words.map(({ text }) => text))).toEqual(['low', 'high', 'low']);
  expect(Math.abs(segments.flatMap(({ words }) => words)[1]!.startMs - 950)).toBeLessThanOrEqual(120);
  expect(told).toEqual([{ hasWordsNow: true }]);
});

test('a loud tone that is no word → heard twice, and told so', async () => {
  const input = await ffmpeg('-f', 'lavfi', '-i', 'sine=1200:r=16000:d=3', join(made, 'no-word.wav'));
  const output = join(made, 'no-word.s16le');
  const audio = {
    file: output,
    ...(await decodeAudio({ input, output, maxDurationMs: 60_000, timeLimitMs: 600_000 })),
  };
  const told: WordlessPart[] = [];
  expect((await make().recognize(audio, { signal, onWordless: (part) => told.push(part) })).segments).toEqual([]);
  expect(told).toEqual([{ hasWordsNow: false }]);
});

test('few chunks → all cores hear them; many → a core each', async () => {
  const threadsOfChildren = () => [1, 2, 4].map((count) => childrenOf(process.pid, `"numThreads":${count},`).length);
  const before = threadsOfChildren();
  const begun = () => threadsOfChildren().map((count, index) => count - before[index]!);
  const recognizer = createSherpaOnnx({ folder: model, slots: createSlots(4), cores: 4 });
  recognizers.push(recognizer);
  await recognizer.recognize(await spoken('low'), { signal });
  expect(begun()).toEqual([0, 0, 1]);
  const long = await spoken(...Array.from({ length: 240 }, (): Tone => 'high'));
  const [{ segments }] = await Promise.all([recognizer.recognize(long, { signal })]);
  expect(segments).not.toEqual([]);
  expect(begun()[0]).toBeGreaterThan(0);
  expect(begun()[2]).toBe(1);
});

test('memory for two models → no more than two are loaded, whatever begins at once', async () => {
  const before = childrenHere().length;
  const limits = { timeLimitMs: () => 600_000, idleMs: 600_000, cores: 4, most: 2 };
  const copies = new ModelCopies(await readModelFolder(model), { ...limits, slots: createSlots(4) });
  await copies.tryOut();
  const { file, durationMs: toMs } = await spoken('low', 'high');
  const chunks = Array.from({ length: 6 }, () => copies.hear({ file, fromMs: 0, toMs }, 1, signal));
  expect((await Promise.all(chunks)).map(({ text }) => text.trim())).toEqual(new Array(6).fill('low high'));
  expect(childrenHere().length - before).toBe(2);
  await copies.close();
});

test('no model yet → rejected and closes; with its model there → the next recording is recognized', async () => {
  const folder = join(made, 'later');
  const recognizer = createSherpaOnnx({ folder });
  recognizers.push(recognizer);
  const audio = await spoken('low');
  await expect(recognizer.recognize(audio, { signal })).rejects.toThrow(/later can not be read/);
  await recognizer.close();
  await cp(model, folder, { recursive: true });
  expect((await recognizer.recognize(audio, { signal })).segments).toHaveLength(1);
});
