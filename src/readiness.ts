/** Whether a process does its work, for `/readyz`. */
import { whyNoDatabase } from './database-faults.ts';
import { inTime } from './in-time.ts';
import type { Db } from '../db/database.ts';

export interface Readiness {
  /** A sentence about what keeps it from its work; left out when nothing does. */
  problem?: string;
  /** A sentence about what keeps it from nothing but the next job. */
  notice?: string;
}

const pingTimeoutMs = 2_000;

/** @param whyNotServing a sentence while a half of this process starts, stops or waits for the operator */
export async function readinessOf(
  db: Db,
  whyNotServing: () => string | undefined,
  notice: () => string | undefined,
): Promise<Readiness> {
  // Asked again at the end: the process may have begun to stop while the database was asked.
  const problem =
    whyNotServing() ??
    (await inTime(whyNoDatabase(db), pingTimeoutMs, 'the database does not answer')) ??
    whyNotServing();
  const noticed = notice();
  return { ...(problem !== undefined && { problem }), ...(noticed !== undefined && { notice: noticed }) };
}
