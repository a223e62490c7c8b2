/**
 * The queue's stamps after the database's clock was set back: they lie in the future, and the queue would wait until the
 * clock has reached them again, hours perhaps, before it hands out a job or looks for dead workers.
 */
import { sql } from 'kysely';
import type { Queryable } from './database.ts';

/** The queue itself never puts a job off for more than five minutes, and stamps everything else with the present. */
const beyond = sql`now() + interval '10 minutes'`;

/** @returns how many jobs of unfinished sessions were stuck */
export async function mendStampsOfTheFuture(db: Queryable, queue: string): Promise<number> {
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
