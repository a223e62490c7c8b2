import { findDueSessions, firstDue } from '../../db/sessions/retention.ts';
import { eraseSession } from '../sessions/support.ts';
import type { WorkerContext } from './context.ts';

const atATime = 100;

/** Deletes sessions whose `deleteAt` has come, as support does, each in a transaction of its own. */
export async function deleteDueSessions({
  db,
  queue,
  audioStore,
  log,
  stopping,
}: Pick<WorkerContext, 'db' | 'queue' | 'audioStore' | 'log' | 'stopping'>): Promise<void> {
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
        // The next sweep tries again. One that can't be deleted keeps nobody else's.
        log.warn({ err: error, sessionId: id }, 'a session whose time has come was not deleted yet');
      }
    }
    found = due.length;
    after = due.at(-1) ?? after;
  }
  if (deleted > 0) log.info({ sessions: deleted }, 'sessions were deleted, as their retention says');
}
