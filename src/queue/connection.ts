/** How the queue reaches the database: connections of its own, which notice a silent server, and a clock that never jumps. */
import { watchForeignPool } from '../../db/database.ts';
import { steadyClock } from './steady-clock.ts';
import { lookSeconds } from './supervision.ts';

/** @param role see `Queue` */
export function queueConnection(url: string, role: 'worker' | 'api') {
  const isWorker = role === 'worker';
  const { options, close } = watchForeignPool(url);
  return {
    options: {
      ...options,
      connectionString: url,
      options: '-c timezone=UTC',
      application_name: 'transcription-queue',
      max: isWorker ? 6 : 2,
      connectionTimeoutMillis: 5_000,
      clock: steadyClock,
      // Done by `supervise`.
      supervise: false,
      // One process looks for all. It is due a little earlier than any process looks again.
      monitorIntervalSeconds: lookSeconds - 1,
      schedule: false,
      useListenNotify: isWorker,
    },
    close,
  };
}
