import { findDueSessions, firstDue } from '../../db/sessions/retention.ts';
import { eraseSession } from '../sessions/support.ts';
import { everyMinute } from './every-minute.ts';
import type { WorkerContext } from './worker-context.ts';

const atATime = 100;

type Deleter = Pick<WorkerContext, 'db' | 'queue' | 'audioStore' | 'log' | 'stopping'>;

/** Once a minute, beside the sweeps: an account with very many sessions that are due at once does not hold those up. */
export async function keepRetention(worker: Deleter): Promise<void> {
  await everyMinute(worker, 'retention', async (isOurTurn, isFirst) => {
    if (isOurTurn || isFirst) await deleteDueSessions(worker);
  });
}

/** Deletes sessions whose `deleteAt` has come, as support does, each in a transaction of its own. */
export async function deleteDueSessions({ db, queue, audioStore, log, stopping }: Deleter): Promise<void> {
  let deleted = 0;
  for (let found = atATime, after = firstDue; found === atATime && !stopping.aborted;) {
    const due = await findDueSessions(db, after, atATime);
    for (const { id } of due) {
      if (stopping.aborted) break;
      try {
        const outcome = await eraseSession({ db, queue, audioStore }, id);
        if (outcome.kind === 'audio_left')
          log.warn({ err: outcome.error, sessionId: id }, 'a session was deleted; its audio not yet');
        if (outcome.kind !== 'unknown') deleted += 1;
      } catch (error) {
        // The next minute tries again. One that can't be deleted keeps nobody else's.
        log.warn({ err: error, sessionId: id }, 'a session whose time has come was not deleted yet');
      }
    }
    found = due.length;
    after = due.at(-1) ?? after;
  }
  if (deleted > 0) log.info({ sessions: deleted }, 'sessions were deleted, as their retention says');
}
