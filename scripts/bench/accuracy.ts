/** How many words the service gets wrong, beside its own model asked directly: clip by clip, and in long speech. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { decodeAudio } from '../../src/audio/decode.ts';
import { readConfig } from '../../src/config/config.ts';
import { selectRecognizer } from '../../src/recognizers/select.ts';
import { figuresOf, checksOf } from './accuracy-findings.ts';
import { askedDirectly } from './asked-directly.ts';
import { makeRecording } from './long-recording.ts';
import { watchMemory } from './process-tree.ts';
import { clipsIn, librivoxClips } from './spoken-clips.ts';
import { wordErrors } from './word-errors.ts';
import type { DecodedAudio, Recognizer } from '../../src/recognizers/recognizer.ts';
import type { Transcribed, MeasuredClip, MeasuredLong } from './accuracy-findings.ts';
import type { Bench, Choices, Findings, Setting } from './bench.ts';
import type { SpokenClip } from './spoken-clips.ts';

/** Limits for one recording, far above what any recording takes. */
const limits = { maxDurationMs: 24 * 3_600_000, timeLimitMs: 3_600_000 };
const minuteMs = 60_000;

export const accuracy: Bench = {
  name: 'accuracy',
  summary: 'words wrong beside the model asked directly: [--model M] [--server URL] [FOLDER of audio with .txt]',
  takes: ['model', 'server', 'audio'],
  run,
};

async function run(setting: Setting): Promise<Findings> {
  const { choices, say, signal } = setting;
  const config = readConfig({ ...process.env, ...variablesOf(choices) });
  const all = await (choices.audio === undefined
    ? librivoxClips()
    : clipsIn(choices.audio, (names) => say(`Without a .txt, left out: ${names.join(', ')}`)));
  const clips = all.slice(0, setting.sized({ full: Infinity, quick: 20, tiny: 5 }));
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
  const long = await hearLong(setting, recognizer, measured);
  return {
    sizes: {
      recognizer: choices.server ?? choices.model ?? recognizer.name,
      recordings: `${clips.length}, joined again and again to ${long.durationMs / minuteMs} min`,
    },
    checks: checksOf(measured, long),
    figures: figuresOf(measured, long),
    raw: { measured, long },
  };
}

const variablesOf = ({ model, server }: Choices): Record<string, string> => ({
  ...(model !== undefined && { SHERPA_ONNX_MODEL: model }),
  ...(server !== undefined && { RECOGNIZER: 'openai', OPENAI_BASE_URL: server }),
});

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
): Promise<MeasuredLong> {
  const durationMs = setting.sized({ full: 60, quick: 3, tiny: 0.75 }) * minuteMs;
  setting.say(`Recognizing ${durationMs / minuteMs} min of joined speech …`);
  const spoken = clips.map(({ wav, text, name }) => ({ file: wav, text, name }));
  const made = await makeRecording(join(setting.folder, 'long.wav'), spoken, durationMs);
  const audio = await decoded(made.file, setting.signal);
  const memory = watchMemory(process.pid);
  try {
    const service = await heardBy(() => transcribe(recognizer, audio, setting.signal), made.text);
    return { ...made, service, peakBytes: memory.stop().below };
  } finally {
    memory.stop();
  }
}

async function transcribe(recognizer: Recognizer, audio: DecodedAudio, signal: AbortSignal) {
  const { segments } = await recognizer.recognize(audio, { signal });
  return { text: segments.map(({ text }) => text).join(' '), starts: segments.map(({ startMs }) => startMs) };
}

async function heardBy<Answer extends { text: string }>(
  hear: () => Promise<Answer>,
  reference: string,
): Promise<Answer & Transcribed> {
  const began = performance.now();
  const answer = await hear();
  return { ...answer, ms: performance.now() - began, errors: wordErrors(reference, answer.text) };
}
