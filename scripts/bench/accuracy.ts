/**
 * How many words the service gets wrong, beside its own model asked directly: clip by clip, and in long speech. Where clips lie in
 * a folder for each person and the service diarizes, also who said what.
 */
import { execFile } from 'node:child_process';
import { existsSync, openAsBlob } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { decodeAudio } from '../../src/audio/decode.ts';
import { readConfig } from '../../src/config/config.ts';
import { selectRecognizer } from '../../src/recognizers/select.ts';
import { folderOfKnown } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import { makeRecording, clipsIn, librivoxClips } from './spoken-clips.ts';
import { watchMemory } from './process-tree.ts';
import { compareSpeakers } from './speakers.ts';
import { median, quantile } from './statistics.ts';
import { errorRate, sumOf, wordErrors } from './word-errors.ts';
import { SpeechClient } from '../../src/recognizers/openai/client.ts';
import { ModelCopies } from '../../src/recognizers/sherpa-onnx/model-copies.ts';
import { modelLanguageCode, readModelFolder } from '../../src/recognizers/sherpa-onnx/model-folder.ts';
import type { Segment } from '../../src/captions/segment.ts';
import type { DecodedAudio, Recognizer } from '../../src/recognizers/recognizer.ts';
import type { Bench, Check, Choices, Figures, Findings, Setting } from './bench.ts';
import type { Recording, SpokenClip } from './spoken-clips.ts';
import type { Attribution, Said } from './speakers.ts';
import type { WordErrors } from './word-errors.ts';
import type { Config } from '../../src/config/config.ts';

const megabyte = 1_000_000;
const minuteMs = 60_000;
/** Limits for one recording, far above what any recording takes. */
const limits = { maxDurationMs: 24 * 3_600_000, timeLimitMs: 3_600_000 };
/** So many of 100 words more than the model itself gets wrong may be wrong, for all that lies around it. */
const mostMore = 1;

export const accuracy: Bench = {
  name: 'accuracy',
  summary: 'words wrong beside the model asked directly, and who said them: [--model M] [--server URL] [FOLDER]',
  takes: ['model', 'server', 'audio'],
  run,
};

interface Transcribed {
  text: string;
  errors: WordErrors;
  /** Without decoding. */
  ms: number;
}

interface MeasuredClip extends SpokenClip {
  wav: string;
  audio: DecodedAudio;
  direct: Transcribed;
  service: Transcribed;
}

interface MeasuredLong extends Recording {
  service: Transcribed & { segments: readonly Segment[] };
  peakBytes: number;
  /** Where the speakers are known and the service diarizes. */
  speakers?: Attribution & { people: number };
}

async function run(setting: Setting): Promise<Findings> {
  const { choices, say, signal } = setting;
  const config = readConfig({ ...process.env, ...variablesOf(choices) });
  const all = await (choices.audio === undefined
    ? librivoxClips()
    : clipsIn(choices.audio, (names) => say(`Without a .txt, left out: ${names.join(', ')}`)));
  const clips = inTurn(all).slice(0, setting.sized({ full: Infinity, quick: 20, tiny: 5 }));
  const recognizer = await selectRecognizer(config);
  setting.atEnd(() => recognizer.close());
  await recognizer.check();
  const model = await askedDirectly(config);
  setting.atEnd(() => model.close());

  const measured: MeasuredClip[] = [];
  for (const [index, clip] of clips.entries()) {
    say(`Recognizing ${clip.name} (${index + 1} of ${clips.length}) …`);
    const utterance = await utteranceOf(setting, clip, index);
    const direct = await heardBy(async () => ({ text: await model.hear(utterance, signal) }), clip.text);
    const service = await heardBy(() => transcribe(recognizer, utterance.audio, signal), clip.text);
    measured.push({ ...clip, ...utterance, direct, service });
  }
  await model.close();
  const canDiarize = config.recognizer === 'sherpa-onnx' && existsSync(folderOfKnown(config.dataDir, 'diarization'));
  const long = await hearLong(setting, recognizer, measured, canDiarize);
  return {
    sizes: {
      recognizer: choices.server ?? choices.model ?? recognizer.name,
      recordings: `${clips.length}, joined again and again to ${long.durationMs / minuteMs} min`,
    },
    checks: checksOf(measured, long),
    figures: [figuresOf(measured)],
    raw: { measured, long },
  };
}

const variablesOf = ({ model, server }: Choices): Record<string, string> => ({
  ...(model !== undefined && { SHERPA_ONNX_MODEL: model }),
  ...(server !== undefined && { RECOGNIZER: 'openai', OPENAI_BASE_URL: server }),
});

/** A person is the folder that a clip is in. */
const personOf = ({ name }: SpokenClip) => dirname(name);

/** The first clip of each person, then the second of each, and so on. */
function inTurn(clips: readonly SpokenClip[]): SpokenClip[] {
  const people = [...Map.groupBy(clips, personOf).values()];
  const most = Math.max(...people.map(({ length }) => length));
  return Array.from({ length: most }, (_, index) => people.flatMap((own) => own[index] ?? [])).flat();
}

/** A clip as plain WAV and as the service decodes it. */
async function utteranceOf({ folder, signal }: Setting, clip: SpokenClip, index: number) {
  const wav = join(folder, `${index}.wav`);
  const output = ['-map_metadata', '-1', '-bitexact', '-ar', '16000', '-ac', '1', wav];
  const args = ['-hide_banner', '-nostdin', '-loglevel', 'error', '-y', '-i', clip.file, ...output];
  await promisify(execFile)('ffmpeg', args, { signal });
  return { wav, audio: await decoded(wav, signal) };
}

async function decoded(wav: string, signal: AbortSignal): Promise<DecodedAudio> {
  const output = wav.replace('.wav', '.raw');
  return { file: output, ...(await decodeAudio({ input: wav, output, signal, ...limits })) };
}

async function hearLong(
  setting: Setting,
  recognizer: Recognizer,
  clips: readonly MeasuredClip[],
  canDiarize: boolean,
): Promise<MeasuredLong> {
  const durationMs = setting.sized({ full: 60, quick: 3, tiny: 0.75 }) * minuteMs;
  setting.say(`Recognizing ${durationMs / minuteMs} min of joined speech …`);
  const spoken = clips.map(({ wav, text, name }) => ({ file: wav, text, name }));
  const made = await makeRecording(join(setting.folder, 'long.wav'), spoken, durationMs);
  const audio = await decoded(made.file, setting.signal);
  const memory = watchMemory(process.pid);
  try {
    const service = await heardBy(() => transcribe(recognizer, audio, setting.signal), made.text);
    const people = new Set(made.clips.map(({ clip }) => personOf(clip))).size;
    const heard = service.segments.map(({ speaker, ...segment }): Said => ({ who: speaker, ...segment }));
    // A server may diarize, too. With models here, finding no speaker counts as well.
    const areTold = canDiarize || heard.some(({ who }) => who !== undefined);
    const speakers = people > 1 && areTold && { people, ...compareSpeakers(turnsOf(made, clips), heard) };
    return { ...made, service, peakBytes: memory.stop().below, ...(speakers && { speakers }) };
  } finally {
    memory.stop();
  }
}

const turnsOf = ({ clips }: Recording, measured: readonly MeasuredClip[]): Said[] =>
  clips.map(({ clip, startMs }) => {
    const { audio } = measured.find(({ name }) => name === clip.name)!;
    return { who: personOf(clip), text: clip.text, startMs, endMs: startMs + audio.durationMs };
  });

async function transcribe(recognizer: Recognizer, audio: DecodedAudio, signal: AbortSignal) {
  const { segments } = await recognizer.recognize(audio, { signal });
  return { text: segments.map(({ text }) => text).join(' '), segments };
}

async function heardBy<Answer extends { text: string }>(
  hear: () => Promise<Answer>,
  reference: string,
): Promise<Answer & Transcribed> {
  const began = performance.now();
  const answer = await hear();
  return { ...answer, ms: performance.now() - began, errors: wordErrors(reference, answer.text) };
}

const percentOf = (errors: WordErrors) => errorRate(errors) * 100;
const missing = ({ words, deletions }: WordErrors) => (deletions / Math.max(1, words)) * 100;
const all = (clips: readonly MeasuredClip[], by: 'direct' | 'service') => sumOf(clips.map((clip) => clip[by].errors));

function checksOf(clips: readonly MeasuredClip[], long: MeasuredLong): Check[] {
  const direct = all(clips, 'direct');
  const goal = { atMost: percentOf(direct) + mostMore };
  const work = 'joined speech';
  const lost = missing(long.service.errors) - missing(direct);
  const off = startsOff(long, clips);
  return [
    { work: 'the model, asked for each clip', measure: 'words wrong', values: [percentOf(direct)], unit: '%' },
    { work: 'clip by clip', measure: 'words wrong', values: [percentOf(all(clips, 'service'))], unit: '%', goal },
    { work, measure: 'words wrong', values: [percentOf(long.service.errors)], unit: '%', goal },
    { work, measure: 'words lost in and between chunks', values: [lost], unit: '%', goal: { atMost: mostMore } },
    { work, measure: 'captions off, median', values: [median(off)], unit: 'ms', goal: { atMost: 250 } },
    { work, measure: 'captions off, 9 of 10', values: [quantile(off, 0.9)], unit: 'ms', goal: { atMost: 900 } },
    { work, measure: 'time ÷ length', values: [long.service.ms / long.durationMs] },
    { work, measure: 'peak memory of children', values: [long.peakBytes / megabyte], unit: 'MB' },
    ...(long.speakers === undefined ? [] : checksOfSpeakers(long.speakers)),
  ];
}

/** How far from where the voice of each clip begins the nearest caption begins. */
function startsOff({ clips, service }: MeasuredLong, measured: readonly MeasuredClip[]): number[] {
  return clips.map(({ clip, startMs }) => {
    const first = measured.find(({ name }) => name === clip.name)?.audio.silences[0];
    const voiceMs = startMs + (first?.startMs === 0 ? first.endMs : 0);
    return Math.min(...service.segments.map((caption) => Math.abs(caption.startMs - voiceMs)));
  });
}

function checksOfSpeakers({ people, found, wrongTime, wrongPerson }: Attribution & { people: number }): Check[] {
  const work = `${people} people in turn`;
  return [
    { work, measure: 'people too many or too few', values: [Math.abs(found - people)], goal: { atMost: 0 } },
    { work, measure: 'time given to the wrong person', values: [wrongTime * 100], unit: '%' },
    { work, measure: 'words given to the wrong person', values: [wrongPerson * 100], unit: '%' },
  ];
}

const figuresOf = (clips: readonly MeasuredClip[]): Figures => ({
  title: 'Words wrong',
  head: ['recording', 's', 'words', 'the model, %', 'the service, %'],
  rows: clips.map(({ name, audio, direct, service }) => [
    ...[name, audio.durationMs / 1000, direct.errors.words],
    ...[percentOf(direct.errors), percentOf(service.errors)],
  ]),
});

/** The model that the service uses, without the service: whole utterances, one question each. */
interface Model {
  /** @param utterance `wav` is the same audio as the decoded one */
  hear(utterance: { wav: string; audio: DecodedAudio }, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

const timeLimitMs = () => 3_600_000;
const retries = 2;

/** The model of a service with that configuration. */
function askedDirectly(config: Config): Promise<Model> | Model {
  return config.openai === undefined || config.recognizer !== 'openai'
    ? modelInSherpaOnnx(config)
    : modelAtServer(config.openai);
}

async function modelInSherpaOnnx({ sherpaOnnxModel: { folder }, recognizerLanguage }: Config): Promise<Model> {
  const model = await readModelFolder(folder);
  const language = modelLanguageCode(model, recognizerLanguage);
  const copies = new ModelCopies(model, { timeLimitMs, idleMs: timeLimitMs(), most: 1 });
  await copies.tryOut();
  return {
    async hear({ audio: { file, durationMs } }, signal) {
      return (await copies.ask({ file, fromMs: 0, toMs: durationMs, language }, signal)).text;
    },
    close: () => copies.close(),
  };
}

function modelAtServer(server: NonNullable<Config['openai']>): Model {
  const client = new SpeechClient({ server, retries });
  return {
    async hear({ wav, audio: { durationMs: audioMs } }, signal) {
      const file = new File([await openAsBlob(wav)], 'audio.wav', { type: 'audio/wav' });
      const answer = (await client.transcribe(file, 'json', { audioMs, hints: {}, signal })) as { text: string };
      return answer.text;
    },
    close: () => client.close(),
  };
}
