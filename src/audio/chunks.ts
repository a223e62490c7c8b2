import { laterBy, overlapping } from './spans.ts';
import type { Span } from './spans.ts';

export type { Span };

/** A part of a recording that is recognized on its own. Times are ms from the start of the recording. */
export interface Chunk {
  /** The part that this chunk is responsible for. Such parts don't overlap. */
  startMs: number;
  endMs: number;
  /** What the recognizer gets: a little more at cuts without a pause, so that words there are whole. */
  windowStartMs: number;
  windowEndMs: number;
}

export interface ChunkLengths {
  longestMs: number;
  /** How far a chunk's window reaches beyond a cut without a pause. `longestMs` does not include it. */
  overlapMs: number;
  /** A longer stretch without speech is left out, where speech is known. 3 s without it. */
  longestPauseMs?: number;
  /**
   * For chunks that end at about the same time: they are about equally long, and their number is a multiple of those that
   * are recognized at once. None is made shorter than `shortestMs` to get more of them. Without it, all chunks but the last
   * are about as long as allowed.
   */
  evenly?: { atOnce: number; shortestMs: number };
}

/** After this part of the longest chunk, the longest silence is the best place to cut. */
const earliestCut = 0.6;
/** How far a cut may be from its even place, as a part of an even chunk. */
const unevenness = 0.15;
/**
 * A cut in such a pause cuts no word. There windows don't overlap: in both, Whisper's times of the same words
 * may differ by half a second, so that neither counted for a first word after a pause.
 */
const pauseMs = 500;

interface Cut {
  atMs: number;
  isInPause: boolean;
}

/**
 * Cuts a recording into chunks of at most `longestMs`. Each cut is in the middle of the longest silence within reach.
 * Without a silence, it is as late as allowed, or at its even place if chunks are to be even.
 * @returns at least one chunk, in order, from 0 to `durationMs`
 */
export function cutIntoChunks(durationMs: number, silences: readonly Span[], lengths: ChunkLengths): Chunk[] {
  const { evenly } = lengths;
  const cuts = evenly ? evenCuts(durationMs, silences, lengths, evenly) : lateCuts(durationMs, silences, lengths);
  const ends: Cut[] = [{ atMs: 0, isInPause: true }, ...cuts, { atMs: durationMs, isInPause: true }];
  const overlapAt = ({ isInPause }: Cut) => (isInPause ? 0 : lengths.overlapMs);
  return ends.slice(1).map((end, index) => {
    const start = ends[index]!;
    return {
      ...{ startMs: start.atMs, endMs: end.atMs },
      windowStartMs: Math.max(0, start.atMs - overlapAt(start)),
      windowEndMs: Math.min(durationMs, end.atMs + overlapAt(end)),
    };
  });
}

/** Not cut: there is hardly a word on each side. */
const tooShortMs = 2_000;

/**
 * Cuts a chunk in two, in the longest silence of its middle half. A chunk of less than 2 s stays whole.
 * @param silences of the recording, in order
 */
export function inHalves(chunk: Chunk, silences: readonly Span[], overlapMs: number): Chunk[] {
  const { startMs, endMs } = chunk;
  const lengthMs = endMs - startMs;
  if (lengthMs < tooShortMs) return [chunk];
  const reachMs = Math.floor(lengthMs / 4);
  const cut = bestCut(silences, startMs + reachMs, endMs - reachMs, Math.round((startMs + endMs) / 2));
  const [cutMs, overlapHereMs] = [cut.atMs, cut.isInPause ? 0 : overlapMs];
  return [
    { ...chunk, endMs: cutMs, windowEndMs: Math.min(endMs, cutMs + overlapHereMs) },
    { ...chunk, startMs: cutMs, windowStartMs: Math.max(startMs, cutMs - overlapHereMs) },
  ];
}

/** Pauses up to this length are kept, so that a sentence with a pause in it stays one chunk. */
const usualPauseMs = 3_000;

/**
 * Cuts the speech of a recording into chunks.
 * @param speech in order
 * @param changes where it is cut in any case, in order
 * @returns in order; between two chunks a part of the recording may be left out
 */
export function cutSpeechIntoChunks(
  speech: readonly Span[],
  silences: readonly Span[],
  lengths: ChunkLengths,
  changes: readonly number[] = [],
): Chunk[] {
  return withPauses(speech, lengths.longestPauseMs ?? usualPauseMs)
    .flatMap((stretch) => partedAt(changes, stretch))
    .flatMap((stretch) => {
      const fromMs = stretch.startMs;
      const within = overlapping(silences, stretch).map((silence) => laterBy(-fromMs, silence));
      return cutIntoChunks(stretch.endMs - fromMs, within, lengths).map((chunk) => ({
        ...laterBy(fromMs, chunk),
        ...{ windowStartMs: chunk.windowStartMs + fromMs, windowEndMs: chunk.windowEndMs + fromMs },
      }));
    });
}

/** Not cut off: there is no speech. */
const emptyMs = 500;

function partedAt(cuts: readonly number[], { startMs, endMs }: Span): Span[] {
  const inside = cuts.filter((cutMs) => cutMs - startMs > emptyMs && endMs - cutMs > emptyMs);
  return [...inside, endMs].map((cutMs, index) => ({ startMs: inside[index - 1] ?? startMs, endMs: cutMs }));
}

/** Joins stretches with a short pause between them. */
export function withPauses(spans: readonly Span[], longestPauseMs: number): Span[] {
  const joined: Span[] = [];
  for (const { startMs, endMs } of spans) {
    const last = joined.at(-1);
    if (last === undefined || startMs - last.endMs > longestPauseMs) joined.push({ startMs, endMs });
    else last.endMs = Math.max(last.endMs, endMs);
  }
  return joined;
}

function lateCuts(durationMs: number, silences: readonly Span[], { longestMs }: ChunkLengths): Cut[] {
  const cuts: Cut[] = [];
  for (let startMs = 0; startMs + longestMs < durationMs; startMs = cuts.at(-1)!.atMs) {
    const latestMs = startMs + longestMs;
    cuts.push(bestCut(silences, startMs + Math.floor(longestMs * earliestCut), latestMs, latestMs));
  }
  return cuts;
}

function evenCuts(
  durationMs: number,
  silences: readonly Span[],
  { longestMs }: ChunkLengths,
  { atOnce, shortestMs }: NonNullable<ChunkLengths['evenly']>,
): Cut[] {
  // Each end of a chunk may be off by the unevenness, and is rounded.
  const longestEvenMs = (longestMs - 1) / (1 + 2 * unevenness);
  const multiple = Math.ceil(durationMs / longestEvenMs / atOnce) * atOnce;
  const fewest = Math.ceil(durationMs / longestEvenMs);
  const count = Math.max(fewest, Math.min(multiple, Math.floor(durationMs / shortestMs)));
  const evenMs = durationMs / count;
  const reachMs = Math.floor(evenMs * unevenness);
  return Array.from({ length: count - 1 }, (_, index) => {
    const placeMs = Math.round((index + 1) * evenMs);
    return bestCut(silences, placeMs - reachMs, placeMs + reachMs, placeMs);
  });
}

/** The middle of the longest silence between two times. */
function bestCut(silences: readonly Span[], earliestMs: number, latestMs: number, otherwiseMs: number): Cut {
  let [atMs, longestMs] = [otherwiseMs, 0];
  for (const { startMs, endMs } of overlapping(silences, { startMs: earliestMs, endMs: latestMs })) {
    if (endMs - startMs < longestMs) continue;
    [atMs, longestMs] = [Math.round((startMs + endMs) / 2), endMs - startMs];
  }
  return { atMs, isInPause: longestMs >= pauseMs };
}
