/** How quickly a server hears with so many requests at once, as its answers tell. */

/** What was seen of requests that were sent since the number changed. */
export interface Seen {
  answers: number;
  /** Sum of the requests that were under way with each × ms. */
  waitedMs: number;
  tookMs: number;
  audioMs: number;
}

/** A request that is under way. */
export interface Sent {
  readonly seen: Seen;
  readonly at: number;
  /** How many were under way with it. */
  readonly among: number;
  readonly isFull: boolean;
}

/** How quickly the server hears with so many at once: ms of audio per ms. */
export interface Measured {
  count: number;
  speed: number;
}

export const nothingSeen = (): Seen => ({ answers: 0, waitedMs: 0, tookMs: 0, audioMs: 0 });

/** By Little's law: as many as are under way, divided by the time that each of them takes. */
export function measuredIn({ waitedMs, tookMs, audioMs }: Seen): Measured {
  const count = waitedMs / tookMs;
  return { count, speed: (count * audioMs) / tookMs };
}
