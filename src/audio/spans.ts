/** A stretch of a recording, in ms from its start. */
export interface Span {
  startMs: number;
  endMs: number;
}

export const totalMs = (spans: readonly Span[]): number =>
  spans.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);

/** The same, with times that count from another beginning. */
export const laterBy = <S extends Span>(ms: number, span: S): S => ({
  ...span,
  startMs: span.startMs + ms,
  endMs: span.endMs + ms,
});

/**
 * What of some spans lies within another one.
 * @param spans in order, none overlapping another. Most are not looked at: a day may have thousands.
 */
export function overlapping<S extends Span>(spans: readonly S[], { startMs, endMs }: Span): Span[] {
  const found: Span[] = [];
  for (let index = firstAfter(spans, startMs); index < spans.length && spans[index]!.startMs < endMs; index += 1) {
    const span = spans[index]!;
    found.push({ startMs: Math.max(span.startMs, startMs), endMs: Math.min(span.endMs, endMs) });
  }
  return found;
}

/** What of some spans lies outside of others. @param others in any order */
export function without(spans: readonly Span[], others: readonly Span[]): Span[] {
  return others.reduce<readonly Span[]>(
    (rest, other) =>
      rest.flatMap((part) => {
        if (other.endMs <= part.startMs || other.startMs >= part.endMs) return [part];
        const before = { startMs: part.startMs, endMs: other.startMs };
        const after = { startMs: other.endMs, endMs: part.endMs };
        return [before, after].filter(({ startMs, endMs }) => startMs < endMs);
      }),
    spans,
  ) as Span[];
}

/** The first that ends after a time. */
function firstAfter(spans: readonly Span[], ms: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]!.endMs > ms) high = middle;
    else low = middle + 1;
  }
  return low;
}
