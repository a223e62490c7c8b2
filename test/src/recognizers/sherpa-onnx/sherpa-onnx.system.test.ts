/** The real addon with a model that hears tones (test/support/models/tiny). */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { cpuOfTree } from '../../../../scripts/bench/process-tree.ts';
import { createSlots } from '../../../../src/recognizers/in-chunks.ts';
import { ModelCopies } from '../../../../src/recognizers/sherpa-onnx/model-copies.ts';
import { readModelFolder } from '../../../../src/recognizers/sherpa-onnx/model-folder.ts';
import { createSherpaOnnx } from '../../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';
import { childrenOf } from '../../../rig/processes.ts';
import { makeTinyDiarization } from '../../../support/models/tiny/diarization.ts';
import { makeEmptyModel } from '../../../support/models/tiny/empty.ts';
import { makeTinySenseVoice } from '../../../support/models/tiny/sense-voice.ts';
import { makeTinyTransducer } from '../../../support/models/tiny/transducer.ts';
import { speakTones } from '../../../support/models/tiny/spoken-tones.ts';
import { recognizerConformance, toneSpeech } from '../conformance/conformance.ts';
import { makeRecordings } from '../conformance/recordings.ts';
import { until } from '../../../support/until.ts';
import { useFolder } from '../../../support/use-folder.ts';
import type { Tone } from '../../../support/models/tiny/spoken-tones.ts';
import type { Recognizer } from '../../../../src/recognizers/recognizer.ts';
import type { SherpaOnnxOptions } from '../../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';

const made = useFolder();
const model = await makeTinySenseVoice(join(made, 'model'));
const diarization = { folder: await makeTinyDiarization(join(made, 'diarization')) };
const recordings = makeRecordings();

const childrenHere = () => childrenOf(process.pid, 'sherpa-onnx/child-main.ts');
const tones = await toneSpeech(made);
recognizerConformance('with diarization', () => createSherpaOnnx({ folder: model, diarization }), tones, 60_000);

const signal = new AbortController().signal;
const recognizers: Recognizer[] = [];
afterAll(() => Promise.all(recognizers.map((recognizer) => recognizer.close())));

function make(options: Partial<SherpaOnnxOptions> = {}): Recognizer {
  const recognizer = createSherpaOnnx({ folder: model, slots: createSlots(1), ...options });
  recognizers.push(recognizer);
  return recognizer;
}

const spoken = (...tones: Tone[]) => recordings.ofTones(tones);

test('the next recordings → the same process, which hears in the language that it is told, or none; closed → gone', async () => {
  const recognizer = make();
  const audio = await spoken('low', 'high');
  const before = childrenHere();
  for (const [language, heard] of [
    ['zh-Hant', 'zh'],
    [undefined, 'en'],
    ['ja', 'ja'],
    ['en-GB', 'en'],
  ])
    // prettier-ignore
    expect(await recognizer.recognize(audio, { signal, language })).toMatchObject({ language: heard });
  expect(childrenHere()).toHaveLength(before.length + 1);
  await recognizer.close();
  expect(childrenHere()).toEqual(before);
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
  const russian = make({ folder, language: 'ru-RU' });
  await russian.check('ru-RU');
  await expect(russian.check('de')).rejects.toMatchObject({ known: ['ru'] });
  await expect(make({ folder }).check('ru')).rejects.toMatchObject({ known: undefined });
});

test('nothing to do for a while → the process ends, and the next recording gets another', async () => {
  const before = childrenHere();
  const recognizer = make({ idleMs: 1 });
  const audio = await spoken('low');
  const first = await recognizer.recognize(audio, { signal });
  const isGone = () => until(childrenHere, (pids) => pids.length === before.length);
  await isGone();
  expect(await recognizer.recognize(audio, { signal })).toEqual(first);
  await isGone();
});

test('too slow → timed_out, and the child is gone', async () => {
  const before = childrenHere();
  const running = make({ timeLimitMs: () => 1, diarization }).recognize(await spoken('low'), { signal });
  await expect(running).rejects.toMatchObject({ code: 'timed_out', retryable: true });
  expect(childrenHere()).toEqual(before);
});

test('killed in the middle → RecognizerError, retryable, nothing goes on; the next one is recognized', async () => {
  const recognizer = make({ slots: createSlots(2) });
  const audio = await spoken(...new Array<Tone>(240).fill('low'));
  const before = childrenHere();
  const begun = () => childrenHere().filter((pid) => !before.includes(pid));
  const running = recognizer.recognize(audio, { signal });
  running.catch(() => {});
  await until(() => begun().some((pid) => cpuOfTree(pid) >= 50));
  for (const pid of begun()) process.kill(pid, 'SIGKILL');
  await expect(running).rejects.toMatchObject({
    ...{ name: 'RecognizerError', code: 'recognizer_error', retryable: true },
    message: expect.stringContaining('killed by SIGKILL'),
  });
  expect(begun()).toEqual([]);
  expect((await recognizer.recognize(await spoken('low'), { signal })).segments).toHaveLength(1);
});

test('a model that is not what its files say → check says so before any job is taken, recognizing fails', async () => {
  const files = ['tiny-encoder.onnx', 'tiny-decoder.onnx', 'tiny-tokens.txt'];
  const folder = await makeEmptyModel(join(made, 'impostor'), files, { model_type: 'whisper-tiny' });
  const recognizer = make({ folder });
  await expect(recognizer.check()).rejects.toThrow(/was taken for Whisper, and does not run: sherpa-onnx (ended|was)/);
  await expect(recognizer.recognize(await spoken('low'), { signal })).rejects.toThrow(/sherpa-onnx (ended|was killed)/);
});

test('a voice, and nothing heard → heard again with silence at both ends, with the same times', async () => {
  const deaf = await makeTinySenseVoice(join(made, 'deaf'), { isDeafToSuddenStarts: true });
  const { file: input } = await speakTones(made, 'sudden', ['low', 'high', 'low']);
  const audio = await recordings.made('-ss', '0.35', '-i', input);
  const speech = [{ startMs: 0, endMs: 1_350 }];
  const { segments } = await make({ folder: deaf }).recognize({ ...audio, speech }, { signal });
  const words = segments.flatMap((segment) => segment.words);
  expect(words.map(({ text }) => text)).toEqual(['low', 'high']);
  expect(Math.abs(words[1]!.startMs - 950)).toBeLessThanOrEqual(120);
});

test('memory for two models → no more than two are loaded, with the threads that they should have', async () => {
  const before = childrenHere();
  const limits = { timeLimitMs: () => 600_000, idleMs: 600_000, cores: 4, most: 2 };
  const copies = new ModelCopies(await readModelFolder(model), limits);
  await copies.tryOut();
  const { file, durationMs: toMs } = await spoken('low', 'high');
  const chunks = Array.from({ length: 6 }, () => copies.ask({ file, fromMs: 0, toMs }, signal));
  expect((await Promise.all(chunks)).map(({ text }) => text.trim())).toEqual(new Array(6).fill('low high'));
  const begun = (threads: number) =>
    childrenOf(process.pid, `"numThreads":${threads},`).filter((pid) => !before.includes(pid)).length;
  expect([childrenHere().length - before.length, begun(4), begun(1)]).toEqual([2, 1, 1]);
  await copies.close();
});

test('no model yet → rejected and closes; with its model there → the next recording is recognized', async () => {
  const folder = join(made, 'later');
  const recognizer = make({ folder });
  const audio = await spoken('low');
  await expect(recognizer.recognize(audio, { signal })).rejects.toThrow(/later can not be read/);
  await recognizer.close();
  await cp(model, folder, { recursive: true });
  expect((await recognizer.recognize(audio, { signal })).segments).toHaveLength(1);
});
