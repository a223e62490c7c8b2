/** A stretch of speech; times are ms from the start of what was diarized. */
export interface Span {
  startMs: number;
  endMs: number;
}

/** Where voices can't be told apart at all, there seem to be hundreds: more than an answer has room for. */
const mostSpeakers = 100;
/** More tells no more about a voice. */
const mostMs = 30_000;
/** With less, a voice that is mixed with others is better than hardly any. */
const leastClearMs = 500;

/** @returns the turns of each speaker, of who speaks most first; at most 100 speakers */
export function turnsBySpeaker<T extends Span & { speaker: number }>(turns: readonly T[]): T[][] {
  const speakers = [...Map.groupBy(turns, ({ speaker }) => speaker).values()];
  return speakers.sort((a, b) => lengthOf(b) - lengthOf(a)).slice(0, mostSpeakers);
}

/**
 * What a voice is known by: its own turns, without what others say into them where enough is left, the longest first.
 * @returns half a minute at the most
 */
export function speechToKnow(own: readonly Span[], others: readonly Span[]): Span[] {
  const clear = own.flatMap((span) => withoutOthers(span, others));
  const usable = lengthOf(clear) >= leastClearMs ? clear : [...own];
  usable.sort((a, b) => b.endMs - b.startMs - (a.endMs - a.startMs));
  let restMs = mostMs;
  return usable.flatMap(({ startMs, endMs }) => {
    const span = { startMs, endMs: Math.min(endMs, startMs + restMs) };
    restMs -= span.endMs - span.startMs;
    return span.startMs < span.endMs ? [span] : [];
  });
}

const lengthOf = (spans: readonly Span[]): number =>
  spans.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);

function withoutOthers(span: Span, others: readonly Span[]): Span[] {
  return others.reduce<Span[]>(
    (rest, other) =>
      rest.flatMap((part) => {
        if (other.endMs <= part.startMs || other.startMs >= part.endMs) return [part];
        const before = { startMs: part.startMs, endMs: other.startMs };
        const after = { startMs: other.endMs, endMs: part.endMs };
        return [before, after].filter(({ startMs, endMs }) => startMs < endMs);
      }),
    [span],
  );
}
