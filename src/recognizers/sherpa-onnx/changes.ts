import type { Turn } from './diarization-windows.ts';

/** Those who begin before another ends, but no earlier than this, speak one after the other: turns are off by a little. */
const longestOverlapMs = 200;

/**
 * Finds where one person stops and another goes on: the middle of the pause between them. Where people speak at the same
 * time, nothing changes.
 * @param turns in order of time
 * @returns in order
 */
export function changesIn(turns: readonly Turn[]): number[] {
  const changes: number[] = [];
  let last: Turn | undefined;
  for (const turn of turns) {
    if (last !== undefined && turn.speaker !== last.speaker && last.endMs - turn.startMs <= longestOverlapMs)
      changes.push(Math.round((last.endMs + turn.startMs) / 2));
    if (last === undefined || turn.endMs > last.endMs) last = turn;
  }
  return changes;
}
