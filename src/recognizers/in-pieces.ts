/** Recognizes a recording in pieces, several at once, and joins what was heard. */
import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { cutSpeechIntoPieces } from '../audio/pieces.ts';
import { transcribeAgain } from './transcribe-again.ts';
import { joinPieces } from './join.ts';
import { isOnlyMarkers } from './missed.ts';
import { SpanKind, beginSpan, within } from '../tracing/tracing.ts';
import { allOrAbort } from './all-or-abort.ts';
import type { TranscribePiece } from './transcribe-again.ts';
import type { Piece, PieceLengths } from '../audio/pieces.ts';
import type { Word } from '../captions/segment.ts';
import type { DecodedAudio, RecognizeOptions } from './recognizer.ts';

/**
 * Recognizes what one piece hears.
 * @param onHeard gets how much of it is recognized already, in ms
 * @returns words by utterance, with times from the start of the recording
 */
export type RecognizePiece = TranscribePiece<Word[][]>;

/** Room for pieces, shared by all jobs of a process. */
export interface Slots {
  /** Pieces at once. It may change while they are heard. */
  readonly count: number;
  /**
   * Waits for a slot, and then for the work.
   * @throws the abort reason of `stop`, at once while it waits for a slot; work that has begun ends by itself
   */
  run: <T>(work: () => Promise<T>, stop: AbortSignal) => Promise<T>;
}

/** @param count pieces at once; without it, one for each processor core that this process may use */
export function createSlots(count = availableParallelism()): Slots & { count: number } {
  const limit = pLimit(count);
  return {
    get count() {
      return limit.concurrency;
    },
    set count(changed) {
      limit.concurrency = changed;
    },
    async run(work, stop) {
      const begun = Promise.withResolvers<void>();
      const done = limit(() => {
        begun.resolve();
        stop.throwIfAborted();
        return work();
      });
      // Nobody asks how it ends after it was left.
      done.catch(() => {});
      await unlessAborted(begun.promise, stop);
      return done;
    },
  };
}

/** Waits for a promise. @throws the abort reason of `signal`, at once */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const left = Promise.withResolvers<never>();
  const leave = () => left.reject(signal.reason);
  signal.addEventListener('abort', leave);
  return Promise.race([promise, left.promise]).finally(() => signal.removeEventListener('abort', leave));
}

/**
 * Recognizes pieces, and joins what was heard at their cuts. What was not heard well is heard again.
 * @param mayLoop whether the recognizer may say the same words on and on
 * @throws what `recognizePiece` throws
 * @throws the abort reason of `options.signal`
 */
export async function recognizeInPieces(
  audio: DecodedAudio,
  lengths: PieceLengths,
  slots: Slots,
  recognizePiece: RecognizePiece,
  options: RecognizeOptions,
  mayLoop = false,
): Promise<Word[][]> {
  const saidIn = (utterances: Word[][]) => utterances.flat();
  const only = (utterances: Word[][], fromMs: number, toMs: number) =>
    utterances.map((words) => words.filter((word) => isWithin(word, fromMs, toMs)));
  const recognizeSpeech: RecognizePiece = async (...piece) => (await recognizePiece(...piece)).filter(isSpeech);
  const judging = { audio, overlapMs: lengths.overlapMs, saidIn, only, mayLoop };
  const transcribe = transcribeAgain(recognizeSpeech, judging, options.onUncertain);
  const results = await processInPieces(audio, lengths, slots, transcribe, options);
  return joinPieces(
    results.flatMap(({ result }) => result.map((part) => ({ piece: part.piece, utterances: part.result }))),
  );
}

const isSpeech = (utterance: readonly Word[]) => !isOnlyMarkers(utterance.map(({ text }) => text).join(' '));

/** Whether most of a word is said from one time to another. */
export function isWithin({ startMs, endMs }: Word, fromMs: number, toMs: number): boolean {
  const middleMs = (startMs + endMs) / 2;
  return middleMs >= fromMs && middleMs < toMs;
}

/** What is so near to a voice is recognized, too: a word that the detector takes for noise would be lost. */
const nearMs = 500;

/** Where a recording is cut; in order. A recording in which nobody speaks has no pieces. */
export function piecesOf({ durationMs, silences, speech, changes }: DecodedAudio, lengths: PieceLengths): Piece[] {
  if (speech === undefined) return cutSpeechIntoPieces([{ startMs: 0, endMs: durationMs }], silences, lengths, changes);
  const near = speech.map(({ startMs, endMs }) => ({
    startMs: Math.max(0, startMs - nearMs),
    endMs: Math.min(durationMs, endMs + nearMs),
  }));
  return cutSpeechIntoPieces(near, silences, lengths, changes);
}

/** As `processPieces`, for all pieces of a recording. */
export const processInPieces = <Result>(
  audio: DecodedAudio,
  lengths: PieceLengths,
  slots: Slots,
  work: TranscribePiece<Result>,
  options: RecognizeOptions,
): Promise<{ piece: Piece; result: Result }[]> => processPieces(piecesOf(audio, lengths), slots, work, options);

/**
 * The first piece that fails stops the others. Nothing runs any more when this rejects.
 * @param pieces in order of time
 * @param isAlone whether the next piece is processed on its own, after those that are done already; none is without it
 * @returns the result of each piece, in order of time
 * @throws what `work` throws
 * @throws the abort reason of `options.signal`
 */
export async function processPieces<Result>(
  pieces: readonly Piece[],
  slots: Slots,
  work: TranscribePiece<Result>,
  { signal, span, onProgress }: RecognizeOptions,
  isAlone: (done: readonly Result[]) => boolean = () => false,
): Promise<{ piece: Piece; result: Result }[]> {
  const report = progressOf(pieces, onProgress);
  // A recording never has more pieces in the line than can run at once. So a short recording that comes later waits for
  // one piece of a long one, not for all.
  const inLine = pLimit(slots.count);
  const tasks = pieces.map(
    (piece) => (stop: AbortSignal) =>
      inLine(() =>
        slots.run(async () => {
          const traced = beginSpan('piece', { kind: SpanKind.CLIENT, attributes: placeOf(piece) }, span);
          const result = await within(traced, () => work(piece, stop, (ms) => report(piece, ms), traced));
          report(piece, piece.windowEndMs - piece.windowStartMs);
          inLine.concurrency = slots.count;
          return { piece, result };
        }, stop),
      ),
  );
  const done: { piece: Piece; result: Result }[] = [];
  while (done.length < tasks.length && isAlone(done.map(({ result }) => result))) {
    done.push(...(await allOrAbort(signal, [tasks[done.length]!])));
  }
  return [...done, ...(await allOrAbort(signal, tasks.slice(done.length)))];
}

const placeOf = ({ startMs, endMs }: Piece) => ({
  'transcription.piece.start_ms': startMs,
  'transcription.piece.end_ms': endMs,
});

/** Moves the times of a word from the start of a piece to the start of the recording. */
export const laterBy = (ms: number, word: Word): Word => ({
  ...word,
  startMs: word.startMs + ms,
  endMs: word.endMs + ms,
});

/**
 * Reports whole percents over all pieces. Each is larger than the last and below 100, because the transcript is not
 * stored yet.
 */
function progressOf(pieces: readonly Piece[], onProgress: RecognizeOptions['onProgress']) {
  const lengthOf = ({ windowStartMs, windowEndMs }: Piece) => windowEndMs - windowStartMs;
  const wholeMs = pieces.reduce((sum, piece) => sum + lengthOf(piece), 0);
  const done = new Map<Piece, number>();
  let doneMs = 0;
  let last = 0;
  return (piece: Piece, ms: number): void => {
    const before = done.get(piece) ?? 0;
    const now = Math.min(lengthOf(piece), Math.max(before, ms));
    done.set(piece, now);
    doneMs += now - before;
    const percent = Math.min(99, Math.floor((doneMs * 100) / wholeMs));
    if (percent <= last) return;
    last = percent;
    onProgress?.(percent);
  };
}
