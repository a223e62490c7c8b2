/** A stretch of speech; times are ms from the start of what was diarized. */
export interface Span {
  startMs: number;
  endMs: number;
}

/** More tells no more about a voice. */
const mostMs = 30_000;
/** With less, a voice that is mixed with others is better than hardly any. */
const leastClearMs = 500;

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

export const lengthOf = (spans: readonly Span[]): number =>
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
