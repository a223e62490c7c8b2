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
}

/** Beyond this part of the longest piece, the longest silence is the place to cut. */
const earliestCut = 0.6;

/**
 * Cuts a recording into pieces of at most `longestMs`, each cut in the middle of the longest silence within reach, or,
 * where nobody pauses, as late as it may be.
 * @returns at least one piece, in order, from 0 to `durationMs`
 */
export function cutIntoPieces(durationMs: number, silences: readonly Silence[], lengths: PieceLengths): Piece[] {
  const { longestMs, overlapMs } = lengths;
  const pieces: Piece[] = [];
  let next = 0;
  for (let startMs = 0; pieces.length === 0 || startMs < durationMs;) {
    const [earliestMs, latestMs] = [startMs + Math.floor(longestMs * earliestCut), startMs + longestMs];
    // Silences are in order: those before this piece are looked at once.
    while (next < silences.length && silences[next]!.endMs <= earliestMs) next += 1;
    const endMs = latestMs >= durationMs ? durationMs : bestCut(silences, next, earliestMs, latestMs);
    pieces.push({
      ...{ startMs, endMs },
      heardFromMs: Math.max(0, startMs - overlapMs),
      heardToMs: Math.min(durationMs, endMs + overlapMs),
    });
    startMs = endMs;
  }
  return pieces;
}

function bestCut(silences: readonly Silence[], from: number, earliestMs: number, latestMs: number): number {
  let [cutMs, longest] = [latestMs, 0];
  for (let index = from; index < silences.length && silences[index]!.startMs < latestMs; index += 1) {
    const startMs = Math.max(earliestMs, silences[index]!.startMs);
    const endMs = Math.min(latestMs, silences[index]!.endMs);
    if (endMs - startMs < longest) continue;
    [cutMs, longest] = [Math.round((startMs + endMs) / 2), endMs - startMs];
  }
  return cutMs;
}
