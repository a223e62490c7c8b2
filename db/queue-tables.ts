/**
 * All that we know of the queue's own tables. pg-boss makes and migrates them. When a newer pg-boss changes them, this
 * is the file to look at.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Queryable } from './connection/database.ts';
import type { SessionTable } from './schema.ts';

export const queueSchema = 'pgboss';

/** For a query of jobs: the part after `from`. It gives the jobs `j` of a queue that run or will still run. */
export const liveJobs = (queue: string): RawBuilder<unknown> =>
  sql`pgboss.job j where j.name = ${queue} and j.state in ('created', 'retry', 'active')`;

/**
 * Now, in the virtual time of start tags: the largest tag of the jobs that run, or the smallest of those that wait. A job's
 * priority is minus its session's tag. Null for an empty queue.
 */
export const virtualTime = (queue: string): RawBuilder<number | null> => sql<number | null>`coalesce(
  (select -min(priority) from pgboss.job where name = ${queue} and state = 'active' and group_id is not null),
  (select -priority from pgboss.job where name = ${queue} and state < 'active' and not blocked
    order by priority desc limit 1))`;

/** For a query: whether a job waits that joined the queue at this time or before. */
export const waitsSince = (queue: string, time: RawBuilder<unknown>): RawBuilder<boolean> => sql<boolean>`exists (
  select from pgboss.job where name = ${queue} and state < 'active' and not blocked and created_on <= ${time})`;

/** For a query of live jobs `j` and unfinished sessions `s`: the job does not stand where its session does. */
export const isOutOfTurn = sql`s.queue_job_id = j.id and j.priority <> -s.start_tag`;

/** Whether the queue was ever started on this database. */
export const areQueueTablesMade = sql<boolean>`to_regclass('pgboss.job') is not null`;

/** pg-boss's number for the shape of its tables. They must be made. */
export async function readQueueTablesVersion(db: Queryable): Promise<number> {
  const { rows } = await sql<{ version: number }>`select version from pgboss.version`.execute(db);
  return rows[0]!.version;
}

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

/** Whether a worker holds a job of this queue. As SQL, for the queue's own connection. */
export const hasActiveJob = `select exists (
  select from pgboss.job where name = $1 and state = 'active' and group_id is not null) as "hasJob"`;

export type LostSession = Pick<SessionTable, 'account_id' | 'id' | 'queue_job_id'>;

/** Sessions that are queued or processing by their row, although no job of theirs will ever run. */
export async function findSessionsWithoutLiveJob(db: Queryable, queue: string, limit: number): Promise<LostSession[]> {
  const { rows } = await sql<LostSession>`
    select account_id, id, queue_job_id
    from sessions
    where status in ('queued', 'processing')
      and not exists (select from ${liveJobs(queue)} and j.id = sessions.queue_job_id)
    order by created_at limit ${limit}`.execute(db);
  return rows;
}

/** The queue never delays a job by more than five minutes, and all its other times are of the present. */
const beyond = sql`now() + interval '10 minutes'`;

/**
 * Mends the queue's times after the database's clock was set back. They lie in the future then. Until the clock has
 * reached them again, perhaps for hours, the queue would hand out no job and notice no dead worker.
 *
 * @returns how many jobs of unfinished sessions were stuck
 */
export async function resetFutureTimestamps(db: Queryable, queue: string): Promise<number> {
  await sql`update pgboss.queue set
      monitor_claim_on = least(monitor_claim_on, now()),
      monitor_on = least(monitor_on, now()),
      maintain_on = least(maintain_on, now())
    where greatest(monitor_claim_on, monitor_on, maintain_on) > ${beyond}`.execute(db);
  const { numAffectedRows } = await sql`update pgboss.job set
      start_after = least(start_after, now()),
      started_on = least(started_on, now()),
      heartbeat_on = least(heartbeat_on, now())
    where name = ${queue} and id in (select queue_job_id from sessions where status in ('queued', 'processing'))
      and ((state in ('created', 'retry') and start_after > ${beyond})
        or (state = 'active' and greatest(started_on, heartbeat_on) > ${beyond}))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
