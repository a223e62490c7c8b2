/** The real addon with models to which a low tone is one speaker and a high tone another (test/support/models/tiny). */
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../../../../src/config/config.ts';
import { createSlots } from '../../../../src/recognizers/in-chunks.ts';
import { createSherpaOnnx } from '../../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';
import { selectRecognizer } from '../../../../src/recognizers/select.ts';
import { createDiarization } from '../../../../src/recognizers/sherpa-onnx/diarization.ts';
import { makeTinyCanary } from '../../../support/models/tiny/canary.ts';
import { childrenOf } from '../../../rig/processes.ts';
import { makeTinyDiarization } from '../../../support/models/tiny/diarization.ts';
import { makeTinySenseVoice } from '../../../support/models/tiny/sense-voice.ts';
import { expectWellFormed } from '../conformance/conformance.ts';
import { makeRecordings } from '../conformance/recordings.ts';
import { useFolder } from '../../../support/use-folder.ts';
import type { Recognizer, Transcript } from '../../../../src/recognizers/recognizer.ts';
import type { Turn } from '../../../../src/recognizers/sherpa-onnx/voices.ts';
import type { SherpaOnnxOptions } from '../../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';

const folder = useFolder();
const model = await makeTinySenseVoice(join(folder, 'model'));
const models = await makeTinyDiarization(join(folder, 'diarization'));

const signal = new AbortController().signal;
const recognizers: Recognizer[] = [];
afterAll(() => Promise.all(recognizers.map((recognizer) => recognizer.close())));

function make(options: Partial<SherpaOnnxOptions> = {}): Recognizer {
  const recognizer = createSherpaOnnx({ folder: model, diarization: { folder: models }, ...options });
  recognizers.push(recognizer);
  return recognizer;
}

const { made, ofTones: spoken } = makeRecordings();

const saidBy = ({ segments }: Transcript) => segments.map(({ speaker, text }) => `${speaker}: ${text}`);
const diarizing = () => childrenOf(process.pid, '"diarization":');
/** Who said it, of each word. */
const speakersOf = ({ segments }: Transcript) => segments.flatMap(({ speaker, words }) => words.map(() => speaker));
const diarizationOf = (folder: string) =>
  createDiarization({ folder, slots: createSlots(4), timeLimitMs: () => 60_000, idleMs: 60_000 });

test('two voices that follow each other closely → a segment for each turn; S1 speaks first, whatever the models count', async () => {
  const recognizer = make();
  const audio = await spoken(['low', 'low', 'high', 'high', 'low'], 0.7);
  const transcript = await recognizer.recognize(audio, { signal });
  expectWellFormed(transcript, audio.durationMs);
  expect(saidBy(transcript)).toEqual(['S1: low low', 'S2: high high', 'S1: low']);
  expect(new Set(speakersOf(await recognizer.recognize(audio, { signal, speakers: 1 })))).toEqual(new Set(['S1']));
  const other = await recognizer.recognize(await spoken(['high', 'low', 'low'], 0.7), { signal });
  expect(saidBy(other)).toEqual(['S1: high', 'S2: low low']);
});

test('a model that tells no times of words → no caption holds words of two people', async () => {
  const audio = await spoken(['low', 'low', 'high', 'high', 'low']);
  const canary = await makeTinyCanary(join(folder, 'canary'));
  const percents: number[] = [];
  const onProgress = (percent: number) => percents.push(percent);
  const transcript = await make({ folder: canary }).recognize(audio, { signal, onProgress });
  expect(saidBy(transcript)).toEqual(['S1: low low', 'S2: high high', 'S1: low']);
  expect(percents).toEqual([...new Set(percents)].sort((a, b) => a - b));
});

test('460 s → three windows, since voices have to be heard for a while; a process for each, and the same two people in all', async () => {
  const wave = 'lt(mod(t,5),4)*if(lt(mod(t,10),5),sin(2*PI*300*t),sin(2*PI*3000*t))*0.3';
  const args = ['-f', 'lavfi', '-i', `aevalsrc='${wave}':d=460:s=16000`];
  const audio = await made(...args);
  const before = diarizing();
  const diarization = diarizationOf(models);
  const findTurns = await diarization.load();
  const turns = await findTurns!(audio, { signal });
  expect(diarizing().filter((pid) => !before.includes(pid))).toHaveLength(3);
  await diarization.close();
  const isLow = ({ startMs, endMs }: Turn) => ((startMs + endMs) / 2) % 10_000 < 5_000;
  const low = turns[0]!.speaker;
  expect(turns.map(({ speaker }) => speaker)).toEqual(turns.map((turn) => (isLow(turn) ? low : 1 - low)));
  expect(turns.length).toBeGreaterThanOrEqual(460 / 5);
});

test('a fifth of a second of a voice → none of the speakers, nor of another when it falls into his turn', async () => {
  const blips = 'if(between(t,1,1.2)+between(t,3.5,3.7),sin(2*PI*3000*t),lt(t,2.2)*sin(2*PI*300*t))*0.06';
  const audio = await made('-f', 'lavfi', '-i', `aevalsrc='${blips}':d=5:s=16000`);
  const { segments } = await make().recognize(audio, { signal });
  const said = segments.flatMap(({ speaker, words }) => words.map(({ text }) => `${speaker}: ${text}`));
  expect([...new Set(said)]).toEqual(['S1: low', 'S1: high', 'undefined: high']);
});

test('speech heard where the recording is over → nobody speaks beyond its end', async () => {
  const imagining = await makeTinyDiarization(join(folder, 'imagining'), 'low');
  const tone = ['-f', 'lavfi', '-i', 'sine=3000:r=16000:d=12.4', '-af', 'volume=0.5'];
  const audio = await made(...tone);
  const diarization = diarizationOf(imagining);
  const findTurns = await diarization.load();
  const turns = await findTurns!(audio, { signal }).finally(() => diarization.close());
  expect(turns).toEqual([{ startMs: expect.any(Number), endMs: audio.durationMs, speaker: 0 }]);
});

test('installed while the service runs → speakers from the next recording on; removed → none', async () => {
  const later = join(folder, 'later');
  const recognizer = make({ diarization: { folder: later } });
  await recognizer.check();
  const audio = await spoken(['low', 'high']);
  const labels = async () => speakersOf(await recognizer.recognize(audio, { signal }));
  expect(await labels()).toEqual([undefined, undefined]);
  await cp(models, later, { recursive: true });
  expect(await labels()).toEqual(['S1', 'S2']);
  await rm(later, { recursive: true });
  expect(await labels()).toEqual([undefined, undefined]);
});

test('DATA_DIR/models/diarization without one of its files → check and recognize name the folder and it', async () => {
  const dataDir = join(folder, 'incomplete');
  const incomplete = join(dataDir, 'models/diarization');
  await mkdir(dataDir);
  await cp(models, incomplete, { recursive: true });
  await rm(join(incomplete, 'embedding.onnx'));
  const recognizer = await selectRecognizer(
    readConfig({ RECOGNIZER: 'sherpa-onnx', SHERPA_ONNX_MODEL: model, DATA_DIR: dataDir }),
  );
  recognizers.push(recognizer);
  const hint = 'Type: npm run model -- download diarization';
  const message = `Speakers can not be told apart: ${incomplete} holds no embedding.onnx. ${hint}`;
  await expect(recognizer.check()).rejects.toThrow(message);
  const recognized = recognizer.recognize(await spoken(['low']), { signal });
  await expect(recognized).rejects.toMatchObject({ name: 'RecognizerError', message, retryable: true });
});

test('children → told the threshold; 2 GiB of address space at the most before any real model; the first to go when memory ends', async () => {
  const before = childrenOf(process.pid, 'sherpa-onnx/child-main.ts');
  const diarization = { folder: models, threshold: 0.7 };
  await make({ diarization }).recognize(await spoken(['low', 'high']), { signal });
  expect(childrenOf(process.pid, '"threshold":0.7')).toHaveLength(1);
  const begun = childrenOf(process.pid, 'sherpa-onnx/child-main.ts').filter((pid) => !before.includes(pid));
  expect(begun).toHaveLength(2);
  for (const pid of begun) {
    const [, kibibytes] = /^VmSize:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))!;
    expect(Number(kibibytes)).toBeLessThan(2 * 1024 ** 2);
    expect(await readFile(`/proc/${pid}/oom_score_adj`, 'utf8')).toBe('1000\n');
  }
});
