/** What is different at a standby, which follows its primary and can only be read. */
import { sql } from 'kysely';
import { isDatabaseAway } from './database-errors.ts';
import type { Queryable } from './database.ts';

export async function isStandby(db: Queryable): Promise<boolean> {
  const { rows } = await sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`.execute(db);
  return rows[0]!.standby;
}

/**
 * Whether a standby broke off what only read: its primary had cleaned up rows that the snapshot still needed, and the
 * standby waits with that for `max_standby_streaming_delay` only. Within a statement it says so (SQLSTATE 40001), between
 * two it just ends the connection.
 */
export const isBrokenOff = (error: unknown): boolean =>
  isDatabaseAway(error) || (Error.isError(error) && 'code' in error && error.code === '40001');
