/** What the erasure of an account deletes. */
import { sql } from 'kysely';
import { sessionChannel } from './states.ts';
import type { Trx } from '../connection/database.ts';

/**
 * Deletes at most `limit` final sessions of an account with their transcripts, oldest first. One statement for millions
 * of sessions would not end in time. The caller holds the account's lock.
 *
 * @returns how many were deleted
 */
export async function deleteFinalSessions(trx: Trx, accountId: string, limit: number): Promise<number> {
  const some = trx
    .selectFrom('sessions')
    .select('id')
    .where('account_id', '=', accountId)
    .where('status', 'in', ['completed', 'failed'])
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit);
  const { numDeletedRows } = await trx
    .deleteFrom('sessions')
    .where('account_id', '=', accountId)
    .where('id', 'in', some)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/**
 * Deletes all sessions of an account with their transcripts. The caller holds the account's lock, and ends the
 * reservations.
 *
 * @returns how many there were, and the queue's jobs of the unfinished ones
 */
export async function deleteSessionsOfAccount(
  trx: Trx,
  accountId: string,
): Promise<{ deleted: number; queueJobIds: string[] }> {
  const unfinished = await trx
    .selectFrom('sessions')
    .select(['id', 'queue_job_id'])
    .where('account_id', '=', accountId)
    .where('status', 'in', ['queued', 'processing'])
    .execute();
  const { numDeletedRows } = await trx
    .deleteFrom('sessions')
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
  for (const { id } of unfinished) await sql`select pg_notify(${sessionChannel}, ${id})`.execute(trx);
  return { deleted: Number(numDeletedRows), queueJobIds: unfinished.map((session) => session.queue_job_id) };
}
