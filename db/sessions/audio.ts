/** Whether a session's audio is still there, by its row. */
import { sql } from 'kysely';
import type { Queryable } from '../connection/database.ts';

export interface AudioToRemove {
  account_id: string;
  id: string;
}

const isUnneeded = sql<boolean>`(status = 'completed' or (status = 'failed' and completed_at < now() - interval '7 days'))`;

/** Sessions whose audio is not needed any more: completed ones at once, failed ones after seven days. */
export function findAudioToRemove(db: Queryable, limit: number): Promise<AudioToRemove[]> {
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
