/** Of the speech in a window. Times are ms from the start of the window. */
import { totalMs, without } from '../../audio/spans.ts';
import type { Span } from '../../audio/pieces.ts';

/** Where voices can't be told apart at all, there seem to be hundreds of speakers, more than an answer has room for. */
const mostSpeakers = 100;
/** More speech does not describe a voice better. */
const mostMs = 30_000;
/** With less clear speech, speech that is mixed with other voices is used, too. */
const leastClearMs = 500;

/** @returns the turns of each speaker, those of the speaker who speaks most first; at most 100 speakers */
export function turnsBySpeaker<T extends Span & { speaker: number }>(turns: readonly T[]): T[][] {
  const speakers = [...Map.groupBy(turns, ({ speaker }) => speaker).values()];
  return speakers.sort((a, b) => totalMs(b) - totalMs(a)).slice(0, mostSpeakers);
}

/**
 * Chooses the speech by which a voice is recognized: the speaker's own turns, the longest first, without the parts
 * where others speak, if enough is left.
 * @returns half a minute at the most
 */
export function speechToKnow(own: readonly Span[], others: readonly Span[]): Span[] {
  const clear = without(own, others);
  const usable = totalMs(clear) >= leastClearMs ? clear : [...own];
  usable.sort((a, b) => b.endMs - b.startMs - (a.endMs - a.startMs));
  let restMs = mostMs;
  return usable.flatMap(({ startMs, endMs }) => {
    const span = { startMs, endMs: Math.min(endMs, startMs + restMs) };
    restMs -= span.endMs - span.startMs;
    return span.startMs < span.endMs ? [span] : [];
  });
}
