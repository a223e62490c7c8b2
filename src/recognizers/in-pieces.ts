/** Recognizes a recording in pieces, several at once, and joins what was heard. */
import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { cutIntoPieces } from '../audio/pieces.ts';
import { joinPieces } from './join.ts';
import type { Piece, PieceLengths } from '../audio/pieces.ts';
import type { HeardPiece } from './join.ts';
import type { DecodedAudio, RecognizeOptions, Word } from './recognizer.ts';

/**
 * Recognizes what one piece hears.
 * @param onHeard gets how much of it is recognized already, in ms
 * @returns words by utterance, with times from the start of the recording
 */
export type RecognizePiece = (piece: Piece, signal: AbortSignal, onHeard: (ms: number) => void) => Promise<Word[][]>;

/** Room for pieces, shared by all jobs of a process. */
export interface Slots {
  readonly count: number;
  run: <T>(work: () => Promise<T>) => Promise<T>;
}

/** @param count pieces at once; by default one for each processor core that this process may use */
export function createSlots(count = availableParallelism()): Slots {
  const limit = pLimit(count);
  return { count, run: (work) => limit(work) };
}

/**
 * The first piece that fails stops the others; nothing runs any more when this rejects.
 * @throws what `recognizePiece` throws
 * @throws the abort reason of `options.signal`
 */
export async function recognizeInPieces(
  audio: DecodedAudio,
  lengths: PieceLengths,
  slots: Slots,
  recognizePiece: RecognizePiece,
  { signal, onProgress }: RecognizeOptions,
): Promise<Word[][]> {
  const pieces = cutIntoPieces(audio.durationMs, audio.silences, lengths);
  const heardOf = progressOf(pieces, onProgress);
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  // No more of one recording in the line than can run at once: a short one that comes later waits for a piece, not for all.
  const inLine = pLimit(slots.count);
  const recognize = (piece: Piece): Promise<HeardPiece> =>
    inLine(() =>
      slots.run(async () => {
        stop.throwIfAborted();
        const utterances = await recognizePiece(piece, stop, (ms) => heardOf(piece, ms));
        heardOf(piece, piece.heardToMs - piece.heardFromMs);
        return { piece, utterances };
      }),
    ).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    });

  const outcomes = await Promise.allSettled(pieces.map(recognize));
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
  return joinPieces(outcomes.map((outcome) => (outcome as PromiseFulfilledResult<HeardPiece>).value));
}

/** A word whose times were counted from the start of what a piece hears. */
export const laterBy = (ms: number, word: Word): Word => ({
  ...word,
  startMs: word.startMs + ms,
  endMs: word.endMs + ms,
});

/** Whole percents over all pieces, each larger than the last, below 100: the transcript isn't there before the end. */
function progressOf(pieces: readonly Piece[], onProgress: RecognizeOptions['onProgress']) {
  const lengthOf = ({ heardFromMs, heardToMs }: Piece) => heardToMs - heardFromMs;
  const wholeMs = pieces.reduce((sum, piece) => sum + lengthOf(piece), 0);
  const heard = new Map<Piece, number>();
  let heardMs = 0;
  let last = 0;
  return (piece: Piece, ms: number): void => {
    const before = heard.get(piece) ?? 0;
    const now = Math.min(lengthOf(piece), Math.max(before, ms));
    heard.set(piece, now);
    heardMs += now - before;
    const percent = Math.min(99, Math.floor((heardMs * 100) / wholeMs));
    if (percent <= last) return;
    last = percent;
    onProgress?.(percent);
  };
}
