import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabasesFault } from '../../db/connection/database-errors.ts';
import type { QueuedJob } from '../queue/jobs.ts';
import type { WorkerContext } from './worker-context.ts';

const againAfterMs = 3_000;

/**
 * Tells the database what became of an attempt, and tries again while it refuses to hear: an attempt whose end nobody
 * recorded would count.
 *
 * @throws what the database said when the worker stops, or has lost the job
 */
export async function recorded<T>(
  record: () => Promise<T>,
  job: QueuedJob,
  { stopping, log }: Pick<WorkerContext, 'stopping' | 'log'>,
): Promise<T> {
  const ended = AbortSignal.any([job.signal, stopping]);
  for (;;) {
    try {
      return await record();
    } catch (error) {
      if (ended.aborted || !isDatabasesFault(error)) throw error;
      log.warn({ err: error }, 'the end of the attempt can not be recorded yet');
      await sleep(againAfterMs, undefined, { signal: ended }).catch(() => {});
    }
  }
}
