import type { Silence } from './silences.ts';

/** A part of a recording that is recognized on its own. Times are ms from the start of the recording. */
export interface Piece {
  /** What this piece is responsible for: pieces follow each other without gap or overlap. */
  startMs: number;
  endMs: number;
  /** What the recognizer hears: some more at both cuts, so that it knows whole words there. */
  heardFromMs: number;
  heardToMs: number;
}

export interface PieceLengths {
  longestMs: number;
  /** How far a piece is heard beyond its own cuts. `longestMs` is without it. */
  overlapMs: number;
  /** How far before its start it is heard, where that is to be more. */
  leadInMs?: number;
  /** Without it, pieces are about as long as they may be, whatever is left for the last. */
  evenly?: EvenPieces;
}

/** For pieces that end at the same time: about equally long, and as many as are recognized at once, or a multiple. */
export interface EvenPieces {
  atOnce: number;
  /** What is shorter is not worth a piece of its own: rather fewer of them. */
  shortestMs: number;
}

/** Beyond this part of the longest piece, the longest silence is the place to cut. */
const earliestCut = 0.6;
/** How far from its even place a cut may be, as a part of an even piece. */
const unevenness = 0.15;

/**
 * Cuts a recording into pieces of at most `longestMs`, each cut in the middle of the longest silence within reach, or,
 * where nobody pauses, as late as it may be; if they are to be even, at its even place.
 * @returns at least one piece, in order, from 0 to `durationMs`
 */
export function cutIntoPieces(durationMs: number, silences: readonly Silence[], lengths: PieceLengths): Piece[] {
  const { overlapMs, leadInMs = overlapMs, evenly } = lengths;
  const cuts = evenly ? evenCuts(durationMs, silences, lengths, evenly) : lateCuts(durationMs, silences, lengths);
  return [...cuts, durationMs].map((endMs, index) => {
    const startMs = cuts[index - 1] ?? 0;
    return {
      ...{ startMs, endMs },
      heardFromMs: Math.max(0, startMs - leadInMs),
      heardToMs: Math.min(durationMs, endMs + overlapMs),
    };
  });
}

function lateCuts(durationMs: number, silences: readonly Silence[], { longestMs }: PieceLengths): number[] {
  const bestCut = cutter(silences);
  const cuts: number[] = [];
  for (let startMs = 0; startMs + longestMs < durationMs; startMs = cuts.at(-1)!) {
    const latestMs = startMs + longestMs;
    cuts.push(bestCut(startMs + Math.floor(longestMs * earliestCut), latestMs, latestMs));
  }
  return cuts;
}

function evenCuts(
  durationMs: number,
  silences: readonly Silence[],
  { longestMs }: PieceLengths,
  { atOnce, shortestMs }: EvenPieces,
): number[] {
  // Both ends of a piece may be off by the reach, and rounded.
  const longestEvenMs = (longestMs - 1) / (1 + 2 * unevenness);
  const multiple = Math.ceil(durationMs / longestEvenMs / atOnce) * atOnce;
  const fewest = Math.ceil(durationMs / longestEvenMs);
  const count = Math.max(fewest, Math.min(multiple, Math.floor(durationMs / shortestMs)));
  const evenMs = durationMs / count;
  const reachMs = Math.floor(evenMs * unevenness);
  const bestCut = cutter(silences);
  return Array.from({ length: count - 1 }, (_, index) => {
    const placeMs = Math.round((index + 1) * evenMs);
    return bestCut(placeMs - reachMs, placeMs + reachMs, placeMs);
  });
}

/** Finds the middle of the longest silence between two times, for one stretch after the other. */
function cutter(silences: readonly Silence[]) {
  let next = 0;
  return (earliestMs: number, latestMs: number, otherwiseMs: number): number => {
    // Silences are in order: those before this stretch are looked at once.
    while (next < silences.length && silences[next]!.endMs <= earliestMs) next += 1;
    let [cutMs, longest] = [otherwiseMs, 0];
    for (let index = next; index < silences.length && silences[index]!.startMs < latestMs; index += 1) {
      const startMs = Math.max(earliestMs, silences[index]!.startMs);
      const endMs = Math.min(latestMs, silences[index]!.endMs);
      if (endMs - startMs < longest) continue;
      [cutMs, longest] = [Math.round((startMs + endMs) / 2), endMs - startMs];
    }
    return cutMs;
  };
}
