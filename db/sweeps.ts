/** What the sweeps look for: queries over all accounts, each on an index of few rows. */
import { sql } from 'kysely';
import type { Queryable } from './database.ts';

export interface LostSession {
  account_id: string;
  id: string;
  queue_job_id: string;
}

/** Sessions that wait or run by their row while no job of theirs ever will. */
export async function findSessionsWithoutLiveJob(db: Queryable, queue: string, limit: number): Promise<LostSession[]> {
  const { rows } = await sql<LostSession>`
    select account_id, id, queue_job_id
    from sessions
    where status in ('queued', 'processing') and not exists (
      select from pgboss.job
      where job.name = ${queue} and job.id = sessions.queue_job_id and job.state in ('created', 'retry', 'active')
    )
    order by created_at limit ${limit}`.execute(db);
  return rows;
}

export interface AudioToRemove {
  account_id: string;
  id: string;
}

/** Sessions whose audio is not needed any more: completed ones at once, failed ones after seven days. */
export function findAudioToRemove(db: Queryable, limit: number): Promise<AudioToRemove[]> {
  return db
    .selectFrom('sessions')
    .select(['account_id', 'id'])
    .where('audio_deleted_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('status', '=', 'completed'),
        eb.and([eb('status', '=', 'failed'), eb('completed_at', '<', sql<string>`now() - interval '7 days'`)]),
      ]),
    )
    .orderBy('completed_at')
    .limit(limit)
    .execute();
}

/** Only of a final session: a failed one may have been put back to the queue meanwhile. */
export async function markAudioDeletedIfFinal(db: Queryable, accountId: string, id: string): Promise<boolean> {
  const result = await db
    .updateTable('sessions')
    .set({ audio_deleted_at: sql<string>`now()` })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('status', 'in', ['completed', 'failed'])
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

/** For the metrics: how many sessions wait and run, and for how many seconds the oldest has been waiting. */
export async function measureQueue(
  db: Queryable,
): Promise<{ queued: number; processing: number; oldestSeconds: number }> {
  const row = await db
    .selectFrom('sessions')
    .where('status', 'in', ['queued', 'processing'])
    .select([
      sql<number>`count(*) filter (where status = 'queued')`.as('queued'),
      sql<number>`count(*) filter (where status = 'processing')`.as('processing'),
      sql<number>`coalesce(extract(epoch from now() - min(created_at) filter (where status = 'queued')), 0)::float8`.as(
        'oldestSeconds',
      ),
    ])
    .executeTakeFirstOrThrow();
  return row;
}
