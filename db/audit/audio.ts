/** Which audio sessions need, for the auditor: first in its snapshot, then once more as things stand. */
import { sql } from 'kysely';
import type { Queryable } from '../database.ts';
import type { SessionStatus } from '../schema.ts';

export interface AudioOwner {
  account_id: string;
  id: string;
}

/** Sessions in one of these states whose audio was not removed by their row: a page, in the order of their ids. */
export function listSessionsWithAudio(
  db: Queryable,
  statuses: readonly SessionStatus[],
  after: string | undefined,
  limit: number,
): Promise<AudioOwner[]> {
  return db
    .selectFrom('sessions')
    .select(['account_id', 'id'])
    .where('status', 'in', statuses)
    .where('audio_deleted_at', 'is', null)
    .$if(after !== undefined, (query) => query.where('id', '>', after!))
    .orderBy('id')
    .limit(limit)
    .execute();
}

export interface AudioNeed {
  id: string;
  isNeeded: boolean;
  /** For how many ms it has not been needed, where it is not. */
  unneededMs: number;
}

/** Of those of these sessions that are there. A completed session needs no audio, a failed one until it is removed. */
export async function findAudioNeeds(
  db: Queryable,
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, AudioNeed>> {
  const { rows } = await sql<AudioNeed>`
    select id, status <> 'completed' and audio_deleted_at is null as "isNeeded",
      extract(epoch from now() - coalesce(audio_deleted_at, completed_at, created_at))::float8 * 1000 as "unneededMs"
    from sessions where account_id = ${accountId} and id = any(${ids}::uuid[])`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}
