import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ChildNotStarted, runChild } from '../audio/child.ts';
import type { ChildEnd } from '../audio/child.ts';
import { ExecutableNotFound, findExecutable } from '../audio/executable.ts';
import { splitLines } from '../audio/lines.ts';
import { segmentsFromUtterances } from '../segments.ts';
import { readPocketSphinxOutput } from './pocketsphinx-output.ts';
import { RecognizerError } from './recognizer.ts';
import type { DecodedAudio, RecognizeOptions, Recognizer, Transcript, Word } from './recognizer.ts';

const program = 'pocketsphinx_continuous';
/** Where Debian's and Ubuntu's pocketsphinx-en-us puts its model. */
const model = '/usr/share/pocketsphinx/model/en-us';
const modelArgs = [
  ...['-hmm', `${model}/en-us`, '-lm', `${model}/en-us.lm.bin`, '-dict', `${model}/cmudict-en-us.dict`],
];

/** Five minutes of noisy speech took 120 MB; the rest is room for longer utterances. */
const memoryBytes = 2 * 1024 ** 3;

export interface PocketSphinxOptions {
  /** Another program with the same output; for tests. */
  program?: string;
  /** Wall-clock and processor time for audio of that length. */
  timeLimitMs?: (durationMs: number) => number;
}

/** CMU PocketSphinx with its US English model, from Debian's packages: offline, one core, word times, confidences. */
export function createPocketSphinx(options: PocketSphinxOptions = {}): Recognizer {
  const { program: executable = program, timeLimitMs = defaultTimeLimitMs } = options;
  return {
    name: 'pocketsphinx',
    check: () => checkInstalled(executable),
    recognize: (audio, recognizeOptions) =>
      recognize(executable, timeLimitMs(audio.durationMs), audio, recognizeOptions),
  };
}

/** It took 0.2 to 0.3 s per second of audio on a busy machine; one that takes ten times as long hangs. */
function defaultTimeLimitMs(durationMs: number): number {
  return Math.min(15 * 60_000 + 4 * durationMs, 24 * 3_600_000);
}

async function checkInstalled(executable: string): Promise<void> {
  try {
    for (const name of [executable, 'prlimit', 'setpriv']) await findExecutable(name);
    await access(`${model}/en-us/mdef`);
  } catch (cause) {
    const hint = 'Install it: apt-get install pocketsphinx pocketsphinx-en-us';
    const message = cause instanceof ExecutableNotFound ? cause.message : `PocketSphinx's model is missing. ${hint}`;
    throw new RecognizerError('recognizer_error', message, { retryable: true, cause });
  }
}

async function recognize(
  executable: string,
  timeLimitMs: number,
  audio: DecodedAudio,
  { signal, onProgress }: RecognizeOptions,
): Promise<Transcript> {
  const output = readPocketSphinxOutput(percentsOf(audio.durationMs, onProgress));
  const lines = splitLines(output.line);
  let utterances: Word[][];
  const args = [...modelArgs, '-infile', resolve(audio.file), '-time', 'yes', '-logfn', '/dev/null'];
  try {
    const end = await runChild(executable, args, {
      limits: { memoryBytes, cpuSeconds: Math.ceil(timeLimitMs / 1000), fileBytes: 0, openFiles: 64 },
      timeLimitMs,
      signal,
      onStdout: lines.push,
    });
    throwUnlessFinished(end);
    lines.end();
    utterances = output.utterances();
  } catch (cause) {
    if (cause instanceof RecognizerError || (signal.aborted && cause === signal.reason)) throw cause;
    throw new RecognizerError('recognizer_error', messageOf(cause), { retryable: true, cause });
  }
  return { language: 'en-US', segments: segmentsFromUtterances(utterances, audio.durationMs) };
}

/** Below 100 until the end: the transcript isn't there before the last utterance is. */
function percentsOf(durationMs: number, onProgress: RecognizeOptions['onProgress']): (endMs: number) => void {
  let last = 0;
  return (endMs) => {
    const percent = Math.min(99, Math.floor((endMs * 100) / durationMs));
    if (percent <= last) return;
    last = percent;
    onProgress?.(percent);
  };
}

function throwUnlessFinished(end: ChildEnd): void {
  if (end.how === 'timed_out' || (end.how === 'killed' && end.by === 'SIGXCPU')) {
    throw new RecognizerError('timed_out', 'PocketSphinx took too long', { retryable: true });
  }
  if (end.how === 'killed') throw new Error(`PocketSphinx was killed by ${end.by}`);
  if (end.code !== 0) throw new Error(`PocketSphinx ended with exit code ${end.code}: ${end.stderr.trim()}`);
}

function messageOf(cause: unknown): string {
  if (cause instanceof ExecutableNotFound || cause instanceof ChildNotStarted) return cause.message;
  return cause instanceof Error ? cause.message : 'PocketSphinx failed';
}
