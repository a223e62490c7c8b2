/**
 * Attempts that are given back although the recording itself may be why they ended: their worker was gone, a program ran out
 * of memory, or the recognizer's server had crashed. After so many of them, the attempts of the session count.
 */
import { sql } from 'kysely';

export const mostFreeAttempts = 5;

/**
 * 1 where the session is still in the hands of an attempt although its job is given away: nobody recorded its end, since
 * its worker was killed, cut off or frozen. 0 otherwise, and when no free attempt is left.
 */
const isLost = sql<number>`(status = 'processing' and free_attempts < ${sql.lit(mostFreeAttempts)})::int`;

/** For `set`: gives back the attempt that was lost, if one was. */
export const lostGivenBack = {
  attempts_left: sql<number>`attempts_left + ${isLost}`,
  free_attempts: sql<number>`free_attempts + ${isLost}`,
};
