/** Once a minute: finds what a crash left behind. Any number of workers may sweep at once; every step is guarded. */
import { setTimeout as sleep } from 'node:timers/promises';
import { deleteExpiredIdempotencyRecords } from '../../db/idempotency.ts';
import { findSessionRow } from '../../db/sessions.ts';
import { findAudioToRemove, findSessionsWithoutLiveJob, whichHaveAudio } from '../../db/sweeps.ts';
import { transcriptionQueue } from '../queue.ts';
import { removeAudio } from './audio-removal.ts';
import { rescue } from './rescue.ts';
import type { WorkerContext } from './context.ts';

const everyMs = 60_000;
const hourMs = 60 * 60 * 1000;
const atATime = 500;

/** Sweeps at once and then every minute, until the worker stops. */
export async function keepSweeping(worker: WorkerContext): Promise<void> {
  while (!worker.stopping.aborted) {
    await sweep(worker);
    await sleep(everyMs, undefined, { signal: worker.stopping }).catch(() => {});
  }
}

/**
 * Does every step, whether or not another one fails.
 *
 * @param now ms since the epoch, by the clock of the files
 */
export async function sweep(worker: WorkerContext, now = Date.now()): Promise<void> {
  for (const step of steps) {
    if (worker.stopping.aborted) return;
    await step(worker, now).catch((error: unknown) => worker.log.warn({ err: error, step: step.name }, 'sweep failed'));
  }
}

async function rescueSessions(worker: WorkerContext): Promise<void> {
  const { db, log } = worker;
  for (const { account_id, id, queue_job_id } of await findSessionsWithoutLiveJob(db, transcriptionQueue, atATime)) {
    await rescue(account_id, id, queue_job_id, worker).catch((error: unknown) =>
      log.warn({ err: error, sessionId: id }, 'a session without a job could not be rescued yet'),
    );
  }
}

async function removeOldAudio(worker: WorkerContext): Promise<void> {
  for (const { account_id, id } of await findAudioToRemove(worker.db, atATime))
    await removeAudio(worker, account_id, id);
}

/** Audio that no row needs: of uploads whose transaction did not commit, and of sessions that were deleted. */
async function removeUnneededFiles({ db, audioStore }: WorkerContext, now: number): Promise<void> {
  for await (const { accountId, sessionIds } of audioStore.olderThan(now - hourMs)) {
    const needed = await whichHaveAudio(db, accountId, sessionIds);
    for (const id of sessionIds) if (!needed.has(id)) await audioStore.remove(accountId, id);
  }
}

/** Decoded audio of attempts that are over, whoever made it. */
async function removeWorkOfOthers({ db, workFolder }: WorkerContext): Promise<void> {
  for (const attempt of await workFolder.list()) {
    const session = await findSessionRow(db, attempt.accountId, attempt.sessionId);
    const isRunning = session?.status === 'processing' && session.attempt === attempt.attempt;
    if (!isRunning) await workFolder.remove(attempt);
  }
}

async function removeAbandonedUploads({ audioStore }: WorkerContext, now: number): Promise<void> {
  for await (const path of audioStore.abandonedIncoming(now - hourMs)) await audioStore.removeIncoming(path);
}

const forgetExpiredUploads = ({ db }: WorkerContext) => deleteExpiredIdempotencyRecords(db);

const steps = [
  rescueSessions,
  removeOldAudio,
  removeUnneededFiles,
  removeWorkOfOthers,
  removeAbandonedUploads,
  forgetExpiredUploads,
];
