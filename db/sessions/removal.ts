/** Retention: audio that is no longer needed, sessions past their date, and whole accounts. */
import { sql } from 'kysely';
import { notifyFinal } from './states.ts';
import type { Queryable, Trx } from '../connection/database.ts';
import type { Session } from './sessions.ts';

const isUnneeded = sql<boolean>`(status = 'completed' or (status = 'failed' and completed_at < now() - interval '7 days'))`;

/** Sessions whose audio is not needed any more: completed ones at once, failed ones after seven days. */
export function findAudioToRemove(db: Queryable, limit: number): Promise<Pick<Session, 'account_id' | 'id'>[]> {
  return db
    .selectFrom('sessions')
    .select(['account_id', 'id'])
    .where('audio_deleted_at', 'is', null)
    .where(isUnneeded)
    .orderBy('completed_at')
    .limit(limit)
    .execute();
}

/** Looked at once more: a failed session may have been put back to the queue in the meantime, and may have failed anew. */
export async function markAudioDeletedIfUnneeded(db: Queryable, accountId: string, id: string): Promise<boolean> {
  const result = await db
    .updateTable('sessions')
    .set({ audio_deleted_at: sql<string>`now()` })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where(isUnneeded)
    .where('audio_deleted_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Which of these sessions of an account still have audio by their rows. */
export async function whichHaveAudio(db: Queryable, accountId: string, ids: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('sessions')
    .select('id')
    .where('account_id', '=', accountId)
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .where('audio_deleted_at', 'is', null)
    .execute();
  return new Set(rows.map((row) => row.id));
}

/** Where a session stands among those whose time has come. */
interface DuePlace {
  id: string;
  delete_at: string;
}

export const firstDue: DuePlace = { id: '00000000-0000-0000-0000-000000000000', delete_at: '-infinity' };

export interface DueSession extends DuePlace {
  account_id: string;
}

/** Sessions of all accounts that are to be deleted now, the longest overdue first. @param after the last one before */
export function findDueSessions(db: Queryable, after: DuePlace, limit: number): Promise<DueSession[]> {
  return db
    .selectFrom('sessions')
    .select(['account_id', 'id', sql<string>`delete_at`.as('delete_at')])
    .where('delete_at', '<=', sql<string>`now()`)
    .where(sql<boolean>`(delete_at, id) > (${after.delete_at}::timestamptz, ${after.id}::uuid)`)
    .orderBy('delete_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

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
  for (const { id } of unfinished) await notifyFinal(trx, id);
  return { deleted: Number(numDeletedRows), queueJobIds: unfinished.map((session) => session.queue_job_id) };
}
