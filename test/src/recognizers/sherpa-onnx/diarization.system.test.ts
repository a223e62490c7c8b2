/** The real addon with models to which a low tone is one speaker and a high tone another (test/support/tiny-model). */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeAudio } from '../../../../src/audio/decode.ts';
import { readConfig } from '../../../../src/config/config.ts';
import { createSlots } from '../../../../src/recognizers/in-chunks.ts';
import { createSherpaOnnx } from '../../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';
import { RecognizerError } from '../../../../src/recognizers/recognizer.ts';
import { selectRecognizer } from '../../../../src/recognizers/select.ts';
import { createDiarization } from '../../../../src/recognizers/sherpa-onnx/diarization.ts';
import { ffmpeg } from '../../../support/uploads/audio-fixtures.ts';
import { childrenOf } from '../../../rig/processes.ts';
import { makeTinyDiarization } from '../../../support/models/tiny/diarization.ts';
import { makeTinyMoonshine } from '../../../support/models/tiny/moonshine.ts';
import { makeTinySenseVoice } from '../../../support/models/tiny/sense-voice.ts';
import { speakTones } from '../../../support/models/tiny/spoken-tones.ts';
import { expectWellFormed, recognizerConformance } from '../conformance/conformance.ts';
import { speechConformance } from '../conformance/speech.ts';
import { toneSpeech } from '../conformance/tones.ts';
import { until } from '../../../support/until.ts';
import { useFolder } from '../../../support/use-folder.ts';
import type { Tone } from '../../../support/models/tiny/spoken-tones.ts';
import type { DecodedAudio, Recognizer, Transcript } from '../../../../src/recognizers/recognizer.ts';
import type { Turn } from '../../../../src/recognizers/sherpa-onnx/voices.ts';
import type { SherpaOnnxOptions } from '../../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';

const folder = useFolder();
const model = await makeTinySenseVoice(join(folder, 'model'));
const models = await makeTinyDiarization(join(folder, 'diarization'));

const speech = await toneSpeech(folder);
recognizerConformance('sherpa-onnx with diarization', () => make(), speech);
speechConformance('sherpa-onnx with diarization', () => make(), speech);

const signal = new AbortController().signal;
const recognizers: Recognizer[] = [];
afterAll(() => Promise.all(recognizers.map((recognizer) => recognizer.close())));

function make(options: Partial<SherpaOnnxOptions> = {}): Recognizer {
  const recognizer = createSherpaOnnx({ folder: model, diarization: { folder: models }, ...options });
  recognizers.push(recognizer);
  return recognizer;
}

let spokenFiles = 0;
async function spoken(tones: readonly Tone[], seconds?: number): Promise<DecodedAudio> {
  return decoded((await speakTones(folder, 'spoken', tones, seconds)).file);
}
async function decoded(input: string): Promise<DecodedAudio> {
  const output = join(folder, `spoken-${(spokenFiles += 1)}.s16le`);
  return { file: output, ...(await decodeAudio({ input, output, maxDurationMs: 3_600_000, timeLimitMs: 60_000 })) };
}

const saidBy = ({ segments }: Transcript) => segments.map(({ speaker, text }) => `${speaker}: ${text}`);
const diarizing = () => childrenOf(process.pid, '"diarization":');
/** Who said it, of each word. */
const speakersOf = ({ segments }: Transcript) => segments.flatMap(({ speaker, words }) => words.map(() => speaker));
const repeated = (count: number, ...tones: Tone[]) => new Array<Tone[]>(count).fill(tones).flat();

test('a threshold → reaches the addon; without one it is 0.5', async () => {
  const audio = await spoken(['low', 'high']);
  const begunWith = (threshold: number) => childrenOf(process.pid, `"threshold":${threshold}`).length;
  const before = begunWith(0.5);
  await make({ diarization: { folder: models, threshold: 0.7 } }).recognize(audio, { signal });
  expect([begunWith(0.7), begunWith(0.5)]).toEqual([1, before]);
  await make().recognize(audio, { signal });
  expect(begunWith(0.5)).toBe(before + 1);
});

test('two voices that follow each other closely → a segment for each turn, S1 and S2', async () => {
  const audio = await spoken(['low', 'low', 'high', 'high', 'low'], 0.7);
  const transcript = await make().recognize(audio, { signal });
  expectWellFormed(transcript, audio.durationMs);
  expect(saidBy(transcript)).toEqual(['S1: low low', 'S2: high high', 'S1: low']);
});

test('a model that tells no times of words → no caption holds words of two people', async () => {
  const audio = await spoken(['low', 'low', 'high', 'high', 'low']);
  const moonshine = await makeTinyMoonshine(join(folder, 'moonshine'));
  const percents: number[] = [];
  const onProgress = (percent: number) => percents.push(percent);
  const transcript = await make({ folder: moonshine }).recognize(audio, { signal, onProgress });
  expect(saidBy(transcript)).toEqual(['S1: low low', 'S2: high high', 'S1: low']);
  expect(percents).toEqual([...new Set(percents)].sort((a, b) => a - b));
});

test('who speaks first → S1, also where the models count otherwise', async () => {
  expect(saidBy(await make().recognize(await spoken(['high', 'low', 'low'], 0.7), { signal }))).toEqual([
    ...['S1: high', 'S2: low low'],
  ]);
});

test('more than the models hear at once → voices found again by what they are like', async () => {
  const tones = repeated(10, 'high', 'low', 'low');
  const transcript = await make().recognize(await spoken(tones), { signal });
  expect(speakersOf(transcript)).toEqual(tones.map((tone) => (tone === 'high' ? 'S1' : 'S2')));
});

test.each<[string, Partial<SherpaOnnxOptions>]>([
  ['in one window', {}],
  ['in windows', { diarization: { folder: models, windowMs: 2_000 } }],
])('fewer speakers expected than there seem to be, %s → no more than expected', async (_, options) => {
  const audio = await spoken(['low', 'low', 'high', 'high', 'low'], 0.7);
  const recognizer = make(options);
  expect(new Set(speakersOf(await recognizer.recognize(audio, { signal, speakers: 2 })))).toEqual(
    new Set(['S1', 'S2']),
  );
  expect(new Set(speakersOf(await recognizer.recognize(audio, { signal, speakers: 1 })))).toEqual(new Set(['S1']));
  expect(new Set(speakersOf(await recognizer.recognize(audio, { signal })))).toEqual(new Set(['S1', 'S2']));
});

test('one voice → S1 only', async () => {
  const transcript = await make().recognize(await spoken(repeated(15, 'high')), { signal });
  expect(speakersOf(transcript)).toEqual(new Array(15).fill('S1'));
});

test('windows in which others begin, or are alone → the same speakers in all of them', async () => {
  const tones = [...repeated(7, 'low', 'high'), ...repeated(14, 'high'), ...repeated(7, 'high', 'low')];
  const recognizer = make({ diarization: { folder: models, windowMs: 14_000 } });
  const percents: number[] = [];
  const onProgress = (percent: number) => percents.push(percent);
  const transcript = await recognizer.recognize(await spoken(tones), { signal, onProgress });
  expect(speakersOf(transcript)).toEqual(tones.map((tone) => (tone === 'low' ? 'S1' : 'S2')));
  expect(percents).toEqual([...new Set(percents)].sort((a, b) => a - b));
  // Each window tells its own.
  expect(percents.length).toBeGreaterThanOrEqual(4);
});

test.each([
  ['of 460 s → a process on each of three cores, and the same two people in all windows', 460, 3],
  ['of 290 s → one process, since voices have to be heard for a while', 290, 1],
])('a recording %s', async (_, seconds, processes) => {
  const wave = 'lt(mod(t,5),4)*if(lt(mod(t,10),5),sin(2*PI*300*t),sin(2*PI*3000*t))*0.3';
  const args = ['-f', 'lavfi', '-i', `aevalsrc='${wave}':d=${seconds}:s=16000`];
  const audio = await decoded(await ffmpeg(...args, join(folder, `${seconds}.wav`)));
  const before = diarizing();
  const limits = { timeLimitMs: () => 60_000, idleMs: 60_000 };
  const diarization = createDiarization({ folder: models, slots: createSlots(3), ...limits });
  const findTurns = await diarization.load();
  const turns = await findTurns!(audio, { signal });
  expect(diarizing().filter((pid) => !before.includes(pid))).toHaveLength(processes);
  await diarization.close();
  const isLow = ({ startMs, endMs }: Turn) => ((startMs + endMs) / 2) % 10_000 < 5_000;
  const low = turns[0]!.speaker;
  expect(turns.map(({ speaker }) => speaker)).toEqual(turns.map((turn) => (isLow(turn) ? low : 1 - low)));
  expect(turns.length).toBeGreaterThanOrEqual(seconds / 5);
});

test('a fifth of a second of a voice → none of the speakers, nor of another when it falls into his turn', async () => {
  const blips = 'if(between(t,1,1.2)+between(t,3.5,3.7),sin(2*PI*3000*t),lt(t,2.2)*sin(2*PI*300*t))*0.06';
  const input = await ffmpeg('-f', 'lavfi', '-i', `aevalsrc='${blips}':d=5:s=16000`, join(folder, 'blips.wav'));
  const { segments } = await make().recognize(await decoded(input), { signal });
  const said = segments.flatMap(({ speaker, words }) => words.map(({ text }) => `${speaker}: ${text}`));
  expect([...new Set(said)]).toEqual(['S1: low', 'S1: high', 'undefined: high']);
});

test('speech heard where the recording is over → nobody speaks beyond its end', async () => {
  const imagining = await makeTinyDiarization(join(folder, 'imagining'), 'low');
  const tone = ['-f', 'lavfi', '-i', 'sine=3000:r=16000:d=12.4', '-af', 'volume=0.5'];
  const audio = await decoded(await ffmpeg(...tone, join(folder, 'tone.wav')));
  const diarization = createDiarization({
    folder: imagining,
    slots: createSlots(1),
    timeLimitMs: () => 60_000,
    idleMs: 60_000,
  });
  const findTurns = await diarization.load();
  const turns = await findTurns!(audio, { signal }).finally(() => diarization.close());
  expect(turns).toEqual([{ startMs: expect.any(Number), endMs: audio.durationMs, speaker: 0 }]);
});

test('models in DATA_DIR/models/diarization → used, without another word of configuration', async () => {
  const dataDir = join(folder, 'data');
  await mkdir(join(dataDir, 'models/diarization'), { recursive: true });
  const recognizer = await selectRecognizer(readConfig({ RECOGNIZER: 'sherpa-onnx', DATA_DIR: dataDir }));
  recognizers.push(recognizer);
  // The message names the folder, in which there is nothing yet.
  await expect(recognizer.check()).rejects.toThrow(join(dataDir, 'models/diarization'));
});

test.each([
  ['no folder is named', {}],
  ['there is no such folder', { diarization: { folder: join(folder, 'nowhere') } }],
])('%s → no speakers, and check passes', async (_, options) => {
  const recognizer = createSherpaOnnx({ folder: model, ...options });
  recognizers.push(recognizer);
  await recognizer.check();
  const { segments } = await recognizer.recognize(await spoken(['low', 'high']), { signal });
  expect(segments.map(({ text }) => text).join(' ')).toBe('low high');
  for (const segment of segments) expect(segment).not.toHaveProperty('speaker');
});

test('installed while the service runs → speakers from the next recording on; removed → none', async () => {
  const later = join(folder, 'later');
  const recognizer = make({ diarization: { folder: later } });
  const audio = await spoken(['low', 'high']);
  const labels = async () => speakersOf(await recognizer.recognize(audio, { signal }));
  expect(await labels()).toEqual([undefined, undefined]);
  await cp(models, later, { recursive: true });
  expect(await labels()).toEqual(['S1', 'S2']);
  await rm(later, { recursive: true });
  expect(await labels()).toEqual([undefined, undefined]);
});

test.each(['segmentation.onnx', 'embedding.onnx'])(
  '%s missing → check and recognize name the folder and it',
  async (name) => {
    const incomplete = join(folder, `without-${name}`);
    await cp(models, incomplete, { recursive: true });
    await rm(join(incomplete, name));
    const recognizer = make({ diarization: { folder: incomplete } });
    const hint = 'Type: npm run model -- download diarization';
    const message = `Speakers can not be told apart: ${incomplete} holds no ${name}. ${hint}`;
    await expect(recognizer.check()).rejects.toThrow(message);
    const recognized = recognizer.recognize(await spoken(['low']), { signal });
    await expect(recognized).rejects.toThrow(RecognizerError);
    await expect(recognized).rejects.toMatchObject({ message, retryable: true });
  },
);

test.each(['segmentation.onnx', 'embedding.onnx'])(
  '%s damaged → RecognizerError that names the folder',
  async (name) => {
    const damaged = join(folder, `damaged-${name}`);
    await mkdir(damaged);
    await cp(models, damaged, { recursive: true });
    await writeFile(join(damaged, name), 'no model');
    const recognized = make({ diarization: { folder: damaged } }).recognize(await spoken(['low']), { signal });
    await expect(recognized).rejects.toThrow(RecognizerError);
    await expect(recognized).rejects.toThrow(
      /diarization with the models in .*damaged-.*: sherpa-onnx (ended|was killed)/,
    );
  },
);

test('children → 2 GiB of address space at the most before any real model; the first to go when memory ends', async () => {
  const before = childrenOf(process.pid, 'sherpa-onnx/child-main.ts');
  await make().recognize(await spoken(['low', 'high']), { signal });
  const begun = childrenOf(process.pid, 'sherpa-onnx/child-main.ts').filter((pid) => !before.includes(pid));
  expect(begun).toHaveLength(2);
  for (const pid of begun) {
    const [, kibibytes] = /^VmSize:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))!;
    expect(Number(kibibytes)).toBeLessThan(2 * 1024 ** 2);
    expect(await readFile(`/proc/${pid}/oom_score_adj`, 'utf8')).toBe('1000\n');
  }
});

test('killed in the middle → RecognizerError, retryable; the next recording has speakers again', async () => {
  const recognizer = make({ slots: createSlots(2) });
  const before = diarizing();
  const running = recognizer.recognize(await spoken(repeated(100, 'low', 'high')), { signal });
  running.catch(() => {});
  const begun = () => diarizing().filter((pid) => !before.includes(pid));
  const [pid] = await until(begun, (pids) => pids.length > 0);
  process.kill(pid!, 'SIGKILL');
  await expect(running).rejects.toThrow(/diarization with the models in .* was killed by SIGKILL/);
  await expect(running).rejects.toMatchObject({ code: 'recognizer_error', retryable: true });
  expect(speakersOf(await recognizer.recognize(await spoken(['low', 'high']), { signal }))).toEqual(['S1', 'S2']);
});

test('aborted while it diarizes → the reason, and no child of it is left', async () => {
  const recognizer = make({ slots: createSlots(2) });
  const before = childrenOf(process.pid, 'sherpa-onnx/child-main.ts');
  const controller = new AbortController();
  const running = recognizer.recognize(await spoken(repeated(100, 'low', 'high')), { signal: controller.signal });
  running.catch(() => {});
  await until(diarizing, (pids) => pids.some((pid) => !before.includes(pid)));
  const reason = new Error('the service is stopping');
  controller.abort(reason);
  await expect(running).rejects.toBe(reason);
  expect(diarizing().filter((pid) => !before.includes(pid))).toEqual([]);
});

test('too slow → timed_out, and what recognizes is stopped too', async () => {
  const before = childrenOf(process.pid, 'sherpa-onnx/child-main.ts');
  const recognizer = make({ timeLimitMs: () => 1 });
  await expect(recognizer.recognize(await spoken(['low']), { signal })).rejects.toMatchObject({
    ...{ code: 'timed_out', retryable: true },
  });
  expect(childrenOf(process.pid, 'sherpa-onnx/child-main.ts')).toEqual(before);
});
