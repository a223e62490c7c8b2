/** How many words a recognizer gets wrong, how long it takes and how much memory, through the project's own recognizers. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { decodeAudio } from '../../src/audio/decode.ts';
import { readConfig } from '../../src/config.ts';
import { selectRecognizer } from '../../src/recognizers/select.ts';
import { checksOf, figuresOf, sum } from './accuracy-findings.ts';
import { recognizeBare } from './bare-pocketsphinx.ts';
import { cpuOfTree, watchMemory } from './process-tree.ts';
import { clipsIn, librivoxClips } from './spoken-clips.ts';
import { wordErrors } from './word-errors.ts';
import type { Recognizer } from '../../src/recognizers/recognizer.ts';
import type { Heard, MeasuredClip } from './accuracy-findings.ts';
import type { Bench, Findings, Setting } from './bench.ts';
import type { SpokenClip } from './spoken-clips.ts';

/** Limits for one recording, far above what any recording takes. */
const limits = { maxDurationMs: 24 * 3_600_000, timeLimitMs: 3_600_000 };

export const accuracy: Bench = {
  name: 'accuracy',
  summary: 'word error rate, real-time factor and memory of a recognizer: [--recognizer R] [FOLDER of audio with .txt]',
  takes: ['recognizer', 'audio'],
  run,
};

async function run(setting: Setting): Promise<Findings> {
  const { choices, say, signal } = setting;
  const config = readConfig({ ...process.env, ...(choices.recognizer && { RECOGNIZER: choices.recognizer }) });
  const all = await (choices.audio === undefined
    ? librivoxClips()
    : clipsIn(choices.audio, (names) => say(`Without a .txt, left out: ${names.join(', ')}`)));
  const clips = all.slice(0, setting.sized({ full: Infinity, quick: 20, tiny: 2 }));
  const recognizer = await selectRecognizer(config);
  setting.atEnd(() => recognizer.close());
  await recognizer.check();
  // Not measured: it loads what is loaded only once.
  await recognizer.recognize(await silence(setting), { signal });

  const measured: MeasuredClip[] = [];
  for (const clip of clips) {
    say(`Recognizing ${clip.name} (${measured.length + 1} of ${clips.length}) …`);
    const audio = join(setting.folder, 'decoded');
    const decoded = { file: audio, ...(await decodeAudio({ input: clip.file, output: audio, signal, ...limits })) };
    const ours = await hear(clip, recognizer, decoded, signal);
    const bare = config.recognizer === 'pocketsphinx' ? await hearBare(setting, clip) : undefined;
    measured.push({ ...clip, durationMs: decoded.durationMs, ours, ...(bare && { bare }) });
  }
  return {
    sizes: {
      recognizer: recognizer.name,
      recordings: clips.length,
      'seconds of audio': sum(measured, ({ durationMs }) => durationMs) / 1000,
      words: sum(measured, ({ ours }) => ours.errors.words),
    },
    checks: checksOf(measured),
    figures: [figuresOf(recognizer.name, measured)],
    raw: measured,
  };
}

async function silence({ folder }: Setting) {
  const file = join(folder, 'silence');
  const durationMs = 1_000;
  await writeFile(file, Buffer.alloc(32 * durationMs));
  return { file, durationMs, silences: [{ startMs: 0, endMs: durationMs }] };
}

async function hear(
  clip: SpokenClip,
  recognizer: Recognizer,
  audio: Parameters<Recognizer['recognize']>[0],
  signal: AbortSignal,
): Promise<Heard> {
  // All children of this process belong to the recognizer.
  const memory = watchMemory(process.pid);
  const cpuBefore = cpuOfTree(process.pid);
  const began = performance.now();
  try {
    const { segments } = await recognizer.recognize(audio, { signal });
    const ms = performance.now() - began;
    const cpuMs = cpuOfTree(process.pid) - cpuBefore;
    const text = segments.map((segment) => segment.text).join(' ');
    return { errors: wordErrors(clip.text, text), ms, cpuMs, peakBytes: memory.stop().below, text };
  } finally {
    memory.stop();
  }
}

async function hearBare({ folder, signal }: Setting, clip: SpokenClip): Promise<Heard> {
  const wav = join(folder, 'bare.wav');
  // The command skips a header of 44 bytes and takes everything after it for sound.
  const output = ['-map_metadata', '-1', '-bitexact', '-ar', '16000', '-ac', '1', wav];
  const args = ['-hide_banner', '-nostdin', '-loglevel', 'error', '-y', '-i', clip.file, ...output];
  await promisify(execFile)('ffmpeg', args, { signal });
  const { text, ms, cpuMs, memory } = await recognizeBare(wav, signal);
  return { errors: wordErrors(clip.text, text), ms, cpuMs, peakBytes: memory.own, text: text.trim() };
}
