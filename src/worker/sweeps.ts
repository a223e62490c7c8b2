/** Once a minute: finds what a crash or a jump of the clock left behind. Any number of workers may sweep at once; every step is guarded. */
import { setTimeout as sleep } from 'node:timers/promises';
import { deleteExpiredIdempotencyRecords } from '../../db/idempotency.ts';
import { findSessionsWithoutLiveJob, mendStampsOfTheFuture } from '../../db/queue-tables.ts';
import { findAudioToRemove, whichHaveAudio } from '../../db/sessions/audio.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { transcriptionQueue } from '../queue/queue.ts';
import { removeAudio } from './audio-removal.ts';
import { rescue } from './rescue.ts';
import { Suspects } from './suspects.ts';
import type { WorkerContext } from './context.ts';
import type { Foundation } from '../context.ts';

const everyMs = 60_000;
const hourMs = 60 * 60 * 1000;
const atATime = 500;

/** What a sweep needs of a worker. */
export type Sweeper = Foundation & Pick<WorkerContext, 'workFolder' | 'stopping'>;

/** Sweeps at once and then every minute, until the worker stops. */
export async function keepSweeping(worker: Sweeper): Promise<void> {
  const suspects = new Suspects();
  while (!worker.stopping.aborted) {
    await sweep(worker, suspects);
    await sleep(everyMs, undefined, { signal: worker.stopping }).catch(() => {});
  }
}

/** When a sweep is made. */
interface Moment {
  /** ms since the epoch, by the clock of the files. */
  now: number;
  /** ms, by a clock that never jumps. */
  steadyNow: number;
}

/** Does every step, whether or not another one fails. @param suspects what earlier sweeps saw */
export async function sweep(
  worker: Sweeper,
  suspects = new Suspects(),
  moment: Moment = { now: Date.now(), steadyNow: performance.now() },
): Promise<void> {
  for (const step of steps) {
    if (worker.stopping.aborted) return;
    await step(worker, suspects, moment).catch((error: unknown) =>
      worker.log.warn({ err: error, step: step.name }, 'sweep failed'),
    );
  }
  suspects.forgetOthers();
}

async function mendQueue({ db, log }: Sweeper): Promise<void> {
  const jobs = await mendStampsOfTheFuture(db, transcriptionQueue);
  if (jobs > 0) log.warn({ jobs }, "the database's clock was set back: jobs that waited for the future may begin");
}

async function rescueSessions(worker: Sweeper): Promise<void> {
  const { db, log } = worker;
  for (const { account_id, id, queue_job_id } of await findSessionsWithoutLiveJob(db, transcriptionQueue, atATime)) {
    await rescue(account_id, id, queue_job_id, worker).catch((error: unknown) =>
      log.warn({ err: error, sessionId: id }, 'a session without a job could not be rescued yet'),
    );
  }
}

async function removeOldAudio(worker: Sweeper): Promise<void> {
  for (const { account_id, id } of await findAudioToRemove(worker.db, atATime))
    await removeAudio(worker, account_id, id);
}

/** Audio that no row needs: of uploads whose transaction did not commit, and of sessions that were deleted. */
async function removeUnneededFiles(
  { db, audioStore }: Sweeper,
  suspects: Suspects,
  { now, steadyNow }: Moment,
): Promise<void> {
  for await (const { accountId, sessionIds } of audioStore.olderThan(now - hourMs)) {
    const needed = await whichHaveAudio(db, accountId, sessionIds);
    for (const id of sessionIds) {
      const isSuperfluous = !needed.has(id) && suspects.convicts(audioStore.path(accountId, id), steadyNow);
      if (isSuperfluous) await audioStore.remove(accountId, id);
    }
  }
}

/** Decoded audio of attempts that are over, whoever made it. */
async function removeWorkOfOthers({ db, workFolder }: Sweeper): Promise<void> {
  for (const attempt of await workFolder.list()) {
    const session = await findSessionRow(db, attempt.accountId, attempt.sessionId);
    const isRunning = session?.status === 'processing' && session.attempt === attempt.attempt;
    if (!isRunning) await workFolder.remove(attempt);
  }
}

async function removeAbandonedUploads(
  { audioStore }: Sweeper,
  suspects: Suspects,
  { now, steadyNow }: Moment,
): Promise<void> {
  for await (const path of audioStore.abandonedIncoming(now - hourMs)) {
    if (suspects.convicts(path, steadyNow)) await audioStore.removeIncoming(path);
  }
}

const forgetExpiredUploads = ({ db }: Sweeper) => deleteExpiredIdempotencyRecords(db);

const steps = [
  mendQueue,
  rescueSessions,
  removeOldAudio,
  removeUnneededFiles,
  removeWorkOfOthers,
  removeAbandonedUploads,
  forgetExpiredUploads,
];
