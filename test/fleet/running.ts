/**
 * Counts, all the while, how many jobs of an account run at once on all workers together. The job of a worker that fell silent
 * does not run any more once the queue has noticed. One that was fetched, and not claimed, is put back.
 */
import { sql } from 'kysely';
import { transcriptionQueue } from '../../src/queue/queue.ts';
import { allTheWhile } from '../rig/all-the-while.ts';
import type { Db } from '../../db/connection/database.ts';
import type { Customer } from './customers.ts';

const everyMs = 50;

export interface RunningWatch {
  /** The most that was seen, by account. */
  most: Map<string, number>;
  stop(): Promise<void>;
}

export function watchRunning(db: Db): RunningWatch {
  const most = new Map<string, number>();
  const look = async () => {
    const { rows } = await sql<{ account_id: string; running: number }>`
      select account_id, count(*) as running from sessions s
      join pgboss.job j on j.name = ${transcriptionQueue} and j.id = s.queue_job_id and j.state = 'active'
        and s.started_at >= j.started_on
      where s.status = 'processing' group by account_id`.execute(db);
    for (const { account_id: id, running } of rows) most.set(id, Math.max(most.get(id) ?? 0, running));
  };
  return { most, stop: allTheWhile(everyMs, look) };
}

/** More than the plan allows, or never as many: then the limit was not tried. */
export function brokenLimits({ most }: RunningWatch, customers: readonly Customer[]): string[] {
  return customers
    .filter(({ runningJobs }) => runningJobs < 3)
    .filter(({ id, runningJobs }) => most.get(id) !== runningJobs)
    .map(
      ({ id, name, runningJobs }) =>
        `${name} had ${most.get(id) ?? 0} jobs running at once, and may have ${runningJobs}`,
    );
}
