/** What erasing an account takes away, all at once. */
import { sql } from 'kysely';
import { sessionChannel } from './session-states.ts';
import type { Trx } from './database.ts';

/**
 * Removes all sessions of an account and, with them, their transcripts. The caller holds the account's lock, and ends its
 * reservations.
 *
 * @returns how many there were, and the queue's jobs of those that were not final
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
