import { absorbScraps, joinAlike, normalized } from './voices.ts';
import type { Piece } from '../../audio/pieces.ts';
import type { WindowResult } from './messages.ts';
import type { Voice } from './voices.ts';

/** Somebody speaks. Times are ms from the start of the recording. */
export interface Turn {
  startMs: number;
  endMs: number;
  /** The same number for the same speaker, throughout the recording. */
  speaker: number;
}

/** Who was heard in a window of a recording. */
export interface DiarizedWindow {
  piece: Piece;
  result: WindowResult;
}

/** More can't be told apart. So the work of comparing all of them is bounded, however long a recording is. */
const mostPeople = 100;

/**
 * Finds the people of a recording by the voices of its windows.
 * @param windows in order of time
 * @param most how many people speak at the most
 * @returns in order of time
 */
export function joinWindows(windows: readonly DiarizedWindow[], most = mostPeople): Turn[] {
  const known = windows.reduce<Voice[]>(
    (before, window) => joinAlike([...before, ...voicesOf(window)], mostPeople),
    [],
  );
  const people = joinAlike(absorbScraps(known), most);
  return people
    .flatMap(({ turns }, speaker) => turns.map((turn) => ({ ...turn, speaker })))
    .sort((a, b) => a.startMs - b.startMs);
}

const voicesOf = ({ piece, result }: DiarizedWindow): Voice[] =>
  result.speakers.map(({ turns, embedding }) => ({
    turns: turns.map(([startMs, endMs]) => ({
      ...{ startMs: piece.windowStartMs + startMs, endMs: piece.windowStartMs + endMs },
    })),
    likeness: likenessOf(embedding),
  }));

function likenessOf(embedding: string): Float32Array {
  const bytes = Buffer.from(embedding, 'base64');
  return normalized(Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4)));
}
