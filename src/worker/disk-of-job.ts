import { findSessionRow } from '../../db/sessions/sessions.ts';
import { noRoom } from './faults.ts';
import { bytesNeeded } from './disk-budget.ts';
import { enoughRoomBytes } from './worker-pause.ts';
import type { QueuedJob } from '../queue/jobs.ts';
import type { WorkerContext } from './worker-context.ts';
import type { PromisedRoom } from './disk-budget.ts';

/** When a recording that has no room on the disk is tried again. Shorter ones go on meanwhile. */
const lookAgainSeconds = 60;

export interface RoomOfJob extends PromisedRoom {
  neededBytes: number;
}

/**
 * Makes sure that the disk has room for a job's decoded audio before the job is claimed. When the disk is full, the
 * worker takes no more jobs. When there is only too little room for this job, others go before it; so they do when jobs
 * that wait for the recognizer's server have what is missing.
 */
export async function reserveDisk(
  job: QueuedJob,
  { config, db, diskBudget, pause, log, faultNow, audioStore }: WorkerContext,
): Promise<RoomOfJob | { comesAgainAfterSeconds: number }> {
  const { accountId, sessionId } = job.data;
  const session = await findSessionRow(db, accountId, sessionId);
  const copyBytes = audioStore.fetchesCopies ? (session?.audio_bytes ?? 0) : 0;
  const neededBytes = session === undefined ? 0 : bytesNeeded(session.duration_ms ?? session.max_audio_ms) + copyBytes;
  try {
    const taken = await diskBudget.take(neededBytes);
    if (!('missingBytes' in taken)) return { ...taken, neededBytes };
    const message = noRoom(neededBytes, taken.missingBytes);
    if (neededBytes - taken.missingBytes < enoughRoomBytes && diskBudget.jobs < config.workerConcurrency) {
      pause.begin({ reason: 'disk', message }, neededBytes);
      return { comesAgainAfterSeconds: 0 };
    }
    log.warn({ sessionId, neededBytes, missingBytes: taken.missingBytes }, 'a recording waits for room on the disk');
    return { comesAgainAfterSeconds: lookAgainSeconds };
  } catch (error) {
    // The disk does not even tell how much room it has.
    const fault = await faultNow(neededBytes);
    if (fault === undefined) throw error;
    pause.begin(fault, neededBytes);
    return { comesAgainAfterSeconds: 0 };
  }
}
