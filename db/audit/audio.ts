/** Which audio the sessions need: for the auditor and for backups, as the rows are in the moment of the question. */
import { sql } from 'kysely';
import type { Queryable } from '../connection/database.ts';
import type { SessionTable } from '../schema.ts';

export type AudioOwner = Pick<SessionTable, 'account_id' | 'id'>;

const atATime = 1_000;

/** All sessions that need their audio, a page at a time, ordered by account and id. */
export async function* eachAudioOwner(db: Queryable): AsyncGenerator<AudioOwner> {
  for (let last: AudioOwner | undefined; ;) {
    const page = await db
      .selectFrom('sessions')
      .select(['account_id', 'id'])
      .where('status', 'in', ['queued', 'processing', 'failed'])
      .where('audio_deleted_at', 'is', null)
      .$if(last !== undefined, (query) =>
        query.where(sql<boolean>`(account_id, id) > (${last!.account_id}, ${last!.id})`),
      )
      .orderBy('account_id')
      .orderBy('id')
      .limit(atATime)
      .execute();
    yield* page;
    if (page.length < atATime) return;
    last = page.at(-1);
  }
}

export interface AudioNeed {
  id: string;
  isNeeded: boolean;
  /** For audio that is not needed: since how many ms. */
  unneededMs: number;
}

/**
 * What those of these sessions need that still exist. A completed session needs no audio; a failed one needs it until
 * it is removed.
 */
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
