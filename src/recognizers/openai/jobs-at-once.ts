/**
 * How many recordings are held for a server: as many as it hears at once, and a quarter more that are ready when it has
 * room. They need no core of this machine.
 */

/** A third of the least time that a job may take. So long may the last of those wait that are held. */
const longestWaitMs = 5 * 60_000;
/** Until a server has answered. One that hears as quickly as people speak, one at a time, takes no longer for a short recording. */
const supposedMs = 25_000;

/** What is known of the server and of the recordings that are held. */
export interface ServerInNumbers {
  /** How many requests it gets at once. */
  limit: number;
  /** All pieces that are held, less the first of each recording. */
  furtherPieces: number;
  /** How often it answers; undefined before its first answer. */
  answersEveryMs: number | undefined;
}

export function jobsAtOnce({ limit, furtherPieces, answersEveryMs = supposedMs }: ServerInNumbers): number {
  // A long recording has many pieces, and uses the server with them. Others still get in.
  const inUse = Math.min(furtherPieces, limit - 1);
  return Math.min(Math.floor(1.25 * limit) + 1 - inUse, Math.floor(longestWaitMs / answersEveryMs));
}
