/** Recognizes a recording in chunks, several at once, and joins what was recognized. */
import { availableParallelism } from 'node:os';
import pLimit from 'p-limit';
import { cutSpeechIntoChunks } from '../audio/chunks.ts';
import { retryGaps } from './retry-gaps.ts';
import { joinChunks } from './join.ts';
import { isOnlyMarkers } from './transcript-gaps.ts';
import { SpanKind, beginSpan, inSpan } from '../tracing/tracing.ts';
import { allOrAbort, rising } from './all-or-abort.ts';
import type { ProcessChunk } from './retry-gaps.ts';
import type { TranscribedChunk } from './join.ts';
import type { Chunk, ChunkLengths } from '../audio/chunks.ts';
import type { Word } from '../captions/segment.ts';
import type { DecodedAudio, RecognizeOptions } from './recognizer.ts';

/** Room for chunks, shared by all jobs of a process. */
export interface Slots {
  /** Chunks at once. It may change while they are heard. */
  readonly count: number;
  /**
   * Waits for a slot, and then for the work.
   * @throws the abort reason of `stop`, at once while it waits for a slot; work that has begun ends by itself
   */
  run: <T>(work: () => Promise<T>, stop: AbortSignal) => Promise<T>;
}

/** @param count chunks at once; without it, one for each processor core that this process may use */
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
 * Recognizes chunks, and joins what was recognized at their cuts. What was not recognized well is recognized again.
 * @param mayLoop whether the recognizer may say the same words on and on
 * @throws what `recognizeChunk` throws
 * @throws the abort reason of `options.signal`
 */
export async function recognizeInChunks(
  audio: DecodedAudio,
  lengths: ChunkLengths,
  slots: Slots,
  recognizeChunk: ProcessChunk<TranscribedChunk>,
  options: RecognizeOptions,
  mayLoop = false,
): Promise<Word[][]> {
  const recognizeSpeech: typeof recognizeChunk = async (...asked) => {
    const { chunk, utterances } = await recognizeChunk(...asked);
    return { chunk, utterances: utterances.filter(isSpeech) };
  };
  const checks = { audio, overlapMs: lengths.overlapMs, mayLoop };
  const transcribe = retryGaps(recognizeSpeech, checks, options.onUncertain);
  const results = await processChunks(chunksOf(audio, lengths), slots, transcribe, options);
  return joinChunks(results.flatMap(({ result }) => result));
}

const isSpeech = (utterance: readonly Word[]) => !isOnlyMarkers(utterance.map(({ text }) => text).join(' '));

/** What is so near to a voice is recognized, too: a word that the detector takes for noise would be lost. */
const nearMs = 500;

/** Where a recording is cut; in order. A recording without speech has no chunks. */
export function chunksOf({ durationMs, silences, speech, changes }: DecodedAudio, lengths: ChunkLengths): Chunk[] {
  if (speech === undefined) return cutSpeechIntoChunks([{ startMs: 0, endMs: durationMs }], silences, lengths, changes);
  const near = speech.map(({ startMs, endMs }) => ({
    startMs: Math.max(0, startMs - nearMs),
    endMs: Math.min(durationMs, endMs + nearMs),
  }));
  return cutSpeechIntoChunks(near, silences, lengths, changes);
}

/**
 * The first chunk that fails stops the others. Nothing runs any more when this rejects.
 * @param chunks in order of time
 * @param isAlone whether the next chunk is processed on its own, after those that are done already; none is without it
 * @returns the result of each chunk, in order of time
 * @throws what `work` throws
 * @throws the abort reason of `options.signal`
 */
export async function processChunks<Result>(
  chunks: readonly Chunk[],
  slots: Slots,
  work: ProcessChunk<Result>,
  { signal, span, onProgress }: RecognizeOptions,
  isAlone: (done: readonly Result[]) => boolean = () => false,
): Promise<{ chunk: Chunk; result: Result }[]> {
  const report = progressOf(chunks, onProgress);
  // A recording never has more chunks in the line than can run at once. So a short recording that comes later waits for
  // one chunk of a long one, not for all.
  const inLine = pLimit(slots.count);
  const tasks = chunks.map(
    (chunk) => (stop: AbortSignal) =>
      inLine(() =>
        slots.run(async () => {
          const traced = beginSpan('chunk', { kind: SpanKind.CLIENT, attributes: placeOf(chunk) }, span);
          const result = await inSpan(traced, () => work(chunk, stop, traced));
          report(chunk);
          inLine.concurrency = slots.count;
          return { chunk, result };
        }, stop),
      ),
  );
  const done: { chunk: Chunk; result: Result }[] = [];
  while (done.length < tasks.length && isAlone(done.map(({ result }) => result))) {
    done.push(...(await allOrAbort(signal, [tasks[done.length]!])));
  }
  return [...done, ...(await allOrAbort(signal, tasks.slice(done.length)))];
}

const placeOf = ({ startMs, endMs }: Chunk) => ({
  'transcription.chunk.start_ms': startMs,
  'transcription.chunk.end_ms': endMs,
});

/** Reports percents over all chunks, as each is done; below 100, because the transcript is not stored yet. */
function progressOf(chunks: readonly Chunk[], onProgress: RecognizeOptions['onProgress']) {
  const lengthOf = ({ windowStartMs, windowEndMs }: Chunk) => windowEndMs - windowStartMs;
  const wholeMs = chunks.reduce((sum, chunk) => sum + lengthOf(chunk), 0);
  const report = rising(onProgress);
  let doneMs = 0;
  return (chunk: Chunk): void => {
    doneMs += lengthOf(chunk);
    report(Math.min(99, Math.floor((doneMs * 100) / wholeMs)));
  };
}
