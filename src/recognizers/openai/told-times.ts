/** Times as servers tell them. Models without a clock of their own sometimes tell one that can not be. */
import type { Span } from '../../audio/pieces.ts';

/** A word or a segment, with whatever the server says of its times. */
export interface Told {
  text: string;
  start: unknown;
  end: unknown;
}

/** 11 days. A larger number is in nanoseconds, as older versions of LocalAI send it. */
const mostSeconds = 1e6;

/** Nobody takes longer for a word: one without a time of its own does not fill a long pause. */
const longestMsPerCharacter = 150;

/**
 * Starts in order, within the audio. Those that are missing or out of order lie between their neighbours; the others stay
 * as they were told. Only starts are in order, because two people may speak at once.
 * @returns undefined when most have no time
 */
export function timesOf(told: readonly Told[], durationMs: number): Span[] | undefined {
  const known = told.filter(isTimed);
  if (known.length * 2 <= told.length) return undefined;
  const large = known.filter(({ end }) => end > mostSeconds).length;
  const msPerUnit = large * 2 > known.length ? 1e-6 : 1000;
  const inAudio = (time: number) => Math.min(durationMs, Math.max(0, Math.round(time * msPerUnit)));
  const spans = told.map((each): Span | undefined => {
    if (!isTimed(each)) return undefined;
    const startMs = inAudio(each.start);
    return { startMs, endMs: Math.max(startMs, inAudio(each.end)) };
  });
  return withGapsFilled(inOrder(spans), told, durationMs);
}

const isTimed = <Each extends Told>(each: Each): each is Each & { start: number; end: number } =>
  Number.isFinite(each.start) && Number.isFinite(each.end);

/** The most spans whose starts are in order (the longest non-decreasing subsequence). The others become undefined. */
function inOrder(spans: readonly (Span | undefined)[]): (Span | undefined)[] {
  /** Of each length, the index of the span that ends such a sequence earliest. */
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  spans.forEach((span, index) => {
    if (span === undefined) return;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (spans[ends[middle]!]!.startMs <= span.startMs) low = middle + 1;
      else high = middle;
    }
    before[index] = ends[low - 1];
    ends[low] = index;
  });
  const kept = new Set<number>();
  for (let index = ends.at(-1); index !== undefined; index = before[index]) kept.add(index);
  return spans.map((span, index) => (kept.has(index) ? span : undefined));
}

function withGapsFilled(spans: readonly (Span | undefined)[], told: readonly Told[], durationMs: number): Span[] {
  const filled: Span[] = [];
  while (filled.length < spans.length) {
    let next = filled.length;
    while (next < spans.length && spans[next] === undefined) next += 1;
    const right = spans[next];
    filled.push(...between(filled.at(-1), right, told.slice(filled.length, next), durationMs));
    if (right !== undefined) filled.push(right);
  }
  return filled;
}

/** They follow what is before them; where nothing is, they end where the next one begins. */
function between(left: Span | undefined, right: Span | undefined, gap: readonly Told[], durationMs: number): Span[] {
  const toMs = right?.startMs ?? durationMs;
  const characters = gap.reduce((sum, { text }) => sum + text.length, 0);
  const longestMs = characters * longestMsPerCharacter;
  const fromMs = left === undefined ? Math.max(0, toMs - longestMs) : Math.min(left.endMs, toMs);
  const msPerCharacter = Math.min(longestMs, toMs - fromMs) / Math.max(1, characters);
  let atMs = fromMs;
  return gap.map(({ text }) => {
    const startMs = Math.round(atMs);
    atMs += text.length * msPerCharacter;
    return { startMs, endMs: Math.round(atMs) };
  });
}
