import type { Span } from '../../audio/chunks.ts';
import type { Turn } from './voices.ts';

/** A word that no turn covers gets the speaker of the nearest turn within this time. Chosen, not measured. */
const reachMs = 500;

/**
 * Gives each word the speaker who speaks most of its time; where words have no times, each segment. Of two who speak
 * equally much, it is the speaker of the part before. Without speech within half a second, there is no speaker.
 * @param parts in order of time
 * @param turns in order of time
 */
export function withSpeakers<P extends Span>(
  parts: readonly P[],
  turns: readonly Turn[],
): (P & { speaker?: string })[] {
  let next = 0;
  let near: Turn[] = [];
  let last: number | undefined;
  return parts.map((part) => {
    while (next < turns.length && turns[next]!.startMs <= part.endMs + reachMs) near.push(turns[next++]!);
    near = near.filter(({ endMs }) => endMs >= part.startMs - reachMs);
    last = speakerOf(part, near, last);
    return last === undefined ? part : { ...part, speaker: String(last) };
  });
}

function speakerOf(part: Span, near: readonly Turn[], last: number | undefined): number | undefined {
  /** Of each speaker: how long they speak in it, in ms; of one who doesn't, how far away they do, below 0. */
  const spokenMs = new Map<number, number>();
  for (const turn of near) {
    const ms = sharedMs(part, turn);
    const before = spokenMs.get(turn.speaker) ?? -Infinity;
    if (ms >= -reachMs) spokenMs.set(turn.speaker, ms > 0 ? Math.max(0, before) + ms : Math.max(before, ms));
  }
  return spokenMs.size > 0 ? mostOf(spokenMs, last) : undefined;
}

/** Below 0 where they don't touch. */
const sharedMs = (a: Span, b: Span) => Math.min(a.endMs, b.endMs) - Math.max(a.startMs, b.startMs);

function mostOf(values: ReadonlyMap<number, number>, preferred: number | undefined): number {
  const most = Math.max(...values.values());
  if (preferred !== undefined && values.get(preferred) === most) return preferred;
  return [...values].find(([, value]) => value === most)![0];
}
