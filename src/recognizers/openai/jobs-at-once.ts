/**
 * How many recordings are held for a server: as many as it hears at once, and a quarter more that are ready when it has
 * room. They need no core of this machine.
 */

/** A third of the least time that a job may take. So long may the last of those wait that are held. */
const longestWaitMs = 5 * 60_000;

/** What is known of the server and of the recordings that are held. */
export interface ServerInNumbers {
  /** How many requests it gets at once. */
  limit: number;
  /** All pieces that are held, less the first of each recording. */
  furtherPieces: number;
  /** How often it answers; undefined before its first answer. */
  answersEveryMs: number | undefined;
}

/** @returns 0 before the first answer: it may be a slow server that hears one at a time */
export function jobsAtOnce({ limit, furtherPieces, answersEveryMs }: ServerInNumbers): number {
  if (answersEveryMs === undefined) return 0;
  // A long recording has many pieces, and uses the server with them. Others still get in.
  const inUse = Math.min(furtherPieces, limit - 1);
  return Math.min(Math.floor(1.25 * limit) + 1 - inUse, Math.floor(longestWaitMs / answersEveryMs));
}
