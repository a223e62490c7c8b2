/** What we read of the queue's own tables (pg-boss). */
import { sql } from 'kysely';
import type { Queryable } from './database.ts';

/** How many jobs of an account workers hold now, besides this one. */
export async function countOtherActiveJobs(
  db: Queryable,
  queue: string,
  accountId: string,
  jobId: string,
): Promise<number> {
  const { rows } = await sql<{ active: number }>`
    select count(*) as active from pgboss.job
    where name = ${queue} and group_id = ${accountId} and state = 'active' and id <> ${jobId}`.execute(db);
  return rows[0]!.active;
}
