/**
 * How the queue reaches the database: with connections of its own, which notice a server that does not answer, and a
 * clock that never jumps.
 */
import { createHash, randomUUID } from 'node:crypto';
import { watchForeignPool } from '../../db/connection/database.ts';
import { workerName } from '../../db/connection/serving.ts';
import { steadyClock } from './steady-clock.ts';
import { lookSeconds } from './supervision.ts';

/** Where the queue tells of new jobs. pg-boss names it so for its schema. */
export const notifyChannel = `pgboss_${createHash('sha224').update('pgboss').digest('hex').slice(0, 24)}`;

/** How many workers are connected to this database. The one that asks is one of them. */
export const countWorkers = `select count(distinct application_name)::int as workers from pg_stat_activity
  where datname = current_database() and application_name like '${workerName} %'`;

/** @param role see `Queue` */
export function queueConnection(url: string, role: 'worker' | 'api') {
  const isWorker = role === 'worker';
  const { options, close } = watchForeignPool(url);
  return {
    options: {
      ...options,
      connectionString: url,
      // Its migrations may take longer than the limits that a role has behind a pooler.
      options: '-c timezone=UTC -c DateStyle=ISO -c statement_timeout=0 -c idle_in_transaction_session_timeout=0',
      application_name: isWorker ? `${workerName} ${randomUUID()}` : 'transcription-queue',
      max: isWorker ? 3 : 2,
      connectionTimeoutMillis: 5_000,
      clock: steadyClock,
      // `supervise` does that.
      supervise: false,
      // One process looks for all. Its next look is due a little earlier than any process looks again.
      monitorIntervalSeconds: lookSeconds - 1,
      schedule: false,
    },
    close,
  };
}
