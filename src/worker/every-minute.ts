import { setTimeout as sleep } from 'node:timers/promises';
import { acquireLease } from '../../db/leases.ts';
import type { WorkerContext } from './worker-context.ts';

const everyMs = 60_000;
/** A little less, so that the worker of the last turn is not too early for the next one. */
const turnSeconds = 55;

/**
 * Works once a minute until the worker stops, beside the other workers: one of them has the turn at what is done for all. When
 * that one is gone, another has it within two minutes.
 *
 * @param work hears whether it is this worker's turn, and whether the worker has just started
 */
export async function everyMinute(
  { db, log, stopping }: Pick<WorkerContext, 'db' | 'log' | 'stopping'>,
  name: string,
  work: (isOurTurn: boolean, isFirst: boolean) => Promise<void>,
): Promise<void> {
  for (let isFirst = true; !stopping.aborted; isFirst = false) {
    try {
      await work(await acquireLease(db, name, turnSeconds), isFirst);
    } catch (error) {
      log.warn({ err: error, turn: name }, 'what one worker does for all was interrupted');
    }
    await sleep(everyMs, undefined, { signal: stopping }).catch(() => {});
  }
}
