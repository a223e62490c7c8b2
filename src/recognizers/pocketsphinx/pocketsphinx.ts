import { access } from 'node:fs/promises';
import { findLimiters } from '../../children/bounded-command.ts';
import { ChildNotStarted, killedBy, runChild } from '../../children/child.ts';
import type { ChildEnd } from '../../children/child.ts';
import { ExecutableNotFound, findExecutable } from '../../children/executable.ts';
import { splitLines } from '../../children/lines.ts';
import { openPiece } from '../../audio/samples.ts';
import { OperatorFault } from '../../operator-fault.ts';
import { segmentsFromUtterances } from '../../captions/segments.ts';
import { createSlots, laterBy, recognizeInPieces } from '../in-pieces.ts';
import type { RecognizePiece, Slots } from '../in-pieces.ts';
import { readPocketSphinxOutput } from './output.ts';
import { primaryOf } from '../../languages.ts';
import { LanguageNotKnown, RecognizerError } from '../recognizer.ts';
import type { Piece } from '../../audio/pieces.ts';
import type { Recognizer, Word } from '../recognizer.ts';

const program = 'pocketsphinx_continuous';
/** Where the package pocketsphinx-en-us of Debian and Ubuntu puts its model. */
const model = '/usr/share/pocketsphinx/model/en-us';
const modelArgs = [
  ...['-hmm', `${model}/en-us`, '-lm', `${model}/en-us.lm.bin`, '-dict', `${model}/cmudict-en-us.dict`],
];

const inputArgs = ['-infile', '/dev/stdin', '-time', 'yes', '-logfn', '/dev/null'];

/** Five minutes of noisy speech took 120 MB. The rest is room for longer utterances. */
const memoryBytes = 2 * 1024 ** 3;

export interface PocketSphinxOptions {
  /** Another program with the same output; for tests. */
  program?: string;
  /** Wall-clock and processor time for a piece of that length. */
  timeLimitMs?: (durationMs: number) => number;
  /** Processes at once. */
  slots?: Slots;
}

/**
 * The start of the program takes 0.35 s of processor time, which is 2 % of a piece of two minutes. Longer pieces would
 * cost less, but a short recording waits until one of them ends.
 */
const longestPieceMs = 180_000;
const shortestPieceMs = 30_000;
const overlapMs = 1_000;
/**
 * PocketSphinx learns the sound of a voice and a room while it hears (a running cepstral mean), so it hears badly at
 * the beginning of a piece. Words that were wrong in half an hour of speech: 32.3 % with the overlap alone, 31.0 % with
 * a lead-in of 5 s, 30.6 % with 8 s, 30.8 % in one piece.
 */
const leadInMs = 8_000;

/** CMU PocketSphinx with its US English model, from Debian's packages: offline, a core per piece, word times, confidences. */
export function createPocketSphinx(options: PocketSphinxOptions = {}): Recognizer {
  const { program: executable = program, timeLimitMs = defaultTimeLimitMs, slots = createSlots() } = options;
  return {
    name: 'pocketsphinx',
    async check(language) {
      await checkInstalled(executable);
      refuseOtherLanguages(language);
    },
    async recognize(audio, recognizeOptions) {
      refuseOtherLanguages(recognizeOptions.language);
      const recognizePiece: RecognizePiece = (piece, signal, onHeard) =>
        recognizeOne(executable, timeLimitMs, audio.file, piece, signal, onHeard);
      const evenly = { atOnce: slots.count, shortestMs: shortestPieceMs };
      const lengths = { longestMs: longestPieceMs, overlapMs, leadInMs, evenly };
      const utterances = await recognizeInPieces(audio, lengths, slots, recognizePiece, recognizeOptions);
      return { language: 'en-US', segments: segmentsFromUtterances(utterances, audio.durationMs) };
    },
    close: async () => {},
  };
}

/** On a busy machine it took 0.2 to 0.3 s per second of audio. A process that takes ten times as long hangs. */
function defaultTimeLimitMs(durationMs: number): number {
  return 15 * 60_000 + 4 * durationMs;
}

/** @throws {LanguageNotKnown} */
function refuseOtherLanguages(language: string | undefined): void {
  if (language !== undefined && primaryOf(language) !== 'en') throw new LanguageNotKnown(language, ['en']);
}

async function checkInstalled(executable: string): Promise<void> {
  try {
    await findExecutable(executable);
    await findLimiters();
    await access(`${model}/en-us/mdef`);
  } catch (cause) {
    const hint = 'Install it: apt-get install pocketsphinx pocketsphinx-en-us';
    const noModel = new OperatorFault(`PocketSphinx's model is missing. ${hint}`, { cause });
    const fault = cause instanceof ExecutableNotFound ? cause : noModel;
    throw new RecognizerError('recognizer_error', fault.message, { retryable: true, cause: fault });
  }
}

async function recognizeOne(
  executable: string,
  timeLimitMs: (durationMs: number) => number,
  file: string,
  piece: Piece,
  signal: AbortSignal,
  onHeard: (ms: number) => void,
): Promise<Word[][]> {
  const output = readPocketSphinxOutput(onHeard);
  const lines = splitLines(output.line);
  const limitMs = timeLimitMs(piece.heardToMs - piece.heardFromMs);
  try {
    await using samples = await openPiece(file, piece);
    const end = await runChild(executable, [...modelArgs, ...inputArgs], {
      limits: { memoryBytes, cpuSeconds: Math.ceil(limitMs / 1000), fileBytes: 0, openFiles: 64 },
      timeLimitMs: limitMs,
      signal,
      stdin: samples,
      onStdout: lines.push,
    });
    throwUnlessFinished(end);
    lines.end();
    return output.utterances().map((words) => words.map((word) => laterBy(piece.heardFromMs, word)));
  } catch (cause) {
    if (cause instanceof RecognizerError || (signal.aborted && cause === signal.reason)) throw cause;
    throw new RecognizerError('recognizer_error', messageOf(cause), { retryable: true, cause });
  }
}

function throwUnlessFinished(end: ChildEnd): void {
  if (end.how === 'timed_out' || (end.how === 'killed' && end.by === 'SIGXCPU')) {
    throw new RecognizerError('timed_out', 'PocketSphinx took too long', { retryable: true });
  }
  if (end.how === 'killed') throw killedBy('PocketSphinx', end.by);
  if (end.code !== 0) throw new Error(`PocketSphinx ended with exit code ${end.code}: ${end.stderr.trim()}`);
}

function messageOf(cause: unknown): string {
  if (cause instanceof ExecutableNotFound || cause instanceof ChildNotStarted) return cause.message;
  return cause instanceof Error ? cause.message : 'PocketSphinx failed';
}
