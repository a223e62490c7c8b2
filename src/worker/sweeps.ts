/**
 * What runs once a minute beside the jobs, and finds what a crash or a jump of the clock left behind. Any number of workers may
 * sweep at once; every step is guarded.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { acquireLease } from '../../db/leases.ts';
import { findSessionsWithoutLiveJob, mendStampsOfTheFuture } from '../../db/queue-tables.ts';
import { replaceJobIfNotFinal } from '../../db/sessions/attempts.ts';
import { deleteExpiredIdempotencyRecords } from '../../db/sessions/idempotency.ts';
import { findAudioToRemove, findDueSessions, firstDue, markAudioDeletedIfUnneeded } from '../../db/sessions/removal.ts';
import { newJobId, transcriptionQueue } from '../queue/queue.ts';
import { failSession } from '../sessions/endings.ts';
import { giveJob } from '../sessions/job.ts';
import { eraseSession } from '../sessions/support.ts';
import { removeUnneededAudio, removeWorkOfEndedAttempts } from './orphans.ts';
import type { LostSession } from '../../db/queue-tables.ts';
import type { OrphanCandidates } from './orphans.ts';
import type { Sweeper, WorkerContext } from './worker-context.ts';

const everyMs = 60_000;
/** A little less, so that the worker of the last turn is not too early for the next one. */
const turnSeconds = 55;
const atATime = 500;

/** Works once a minute, first at once, until the worker stops. */
export async function everyMinute(
  { log, stopping }: Pick<WorkerContext, 'log' | 'stopping'>,
  work: (isFirst: boolean) => Promise<void>,
): Promise<void> {
  for (let isFirst = true; !stopping.aborted; isFirst = false) {
    try {
      await work(isFirst);
    } catch (error) {
      log.warn({ err: error }, 'what a worker does once a minute was interrupted');
    }
    await sleep(everyMs, undefined, { signal: stopping }).catch(() => {});
  }
}

/** Many machines may share one store, which may be large. */
const listAudioEverySeconds = 60 * 60;

type Step = (worker: Sweeper, candidates: OrphanCandidates, steadyNow: number) => Promise<void>;

/** What one worker does for all. */
const forAll: readonly Step[] = [mendQueue, rescueSessions, removeAudioOfFinalSessions, forgetExpiredIdempotencyKeys];
/** What each does for itself: its own disk, and the audio that it found to be superfluous. */
const forItself: readonly Step[] = [removeUnneededAudio, removeWorkOfEndedAttempts];

/** Sweeps at once and then every minute, until the worker stops. */
export async function keepSweeping(worker: WorkerContext): Promise<void> {
  const candidates: OrphanCandidates = new Map();
  const mayListAudio = () => acquireLease(worker.db, 'list audio', listAudioEverySeconds);
  await everyMinute(worker, async (isFirst) => {
    // When the worker of the last turn is gone, another has it within two minutes.
    const isForAll = (await acquireLease(worker.db, 'sweep', turnSeconds)) || isFirst;
    await sweep({ ...worker, mayListAudio }, candidates, performance.now(), isForAll ? undefined : forItself);
  });
}

/**
 * Does every step, whether or not another one fails.
 * @param candidates what earlier sweeps saw
 * @param steadyNow ms, as of `performance.now()`
 */
export async function sweep(
  worker: Sweeper,
  candidates: OrphanCandidates = new Map(),
  steadyNow = performance.now(),
  steps: readonly Step[] = [...forAll, ...forItself],
): Promise<void> {
  for (const step of steps) {
    if (worker.stopping.aborted) return;
    await step(worker, candidates, steadyNow).catch((error: unknown) =>
      worker.log.warn({ err: error, step: step.name }, 'sweep failed'),
    );
  }
}

async function mendQueue({ db, log }: Sweeper): Promise<void> {
  const jobs = await mendStampsOfTheFuture(db, transcriptionQueue);
  if (jobs > 0) log.warn({ jobs }, "the database's clock was set back: jobs that waited for the future may begin");
}

async function forgetExpiredIdempotencyKeys({ db }: Sweeper): Promise<void> {
  await deleteExpiredIdempotencyRecords(db);
}

/**
 * Gives each unfinished session whose job is lost another one with the attempts that are left. When none is left, the session
 * fails. Nothing happens when the session has another job by now.
 */
async function rescueSessions({ db, queue, log }: Sweeper): Promise<void> {
  const rescue = ({ account_id: accountId, id, queue_job_id: lostJobId }: LostSession) =>
    inAccountTransaction(db, accountId, async (trx, account) => {
      const session = await replaceJobIfNotFinal(trx, accountId, id, lostJobId, newJobId());
      if (account === undefined || session === undefined) return;
      log.info({ sessionId: id, attemptsLeft: session.attempts_left }, 'the job of a session is dead or lost');
      if (session.attempts_left > 0) await giveJob(trx, queue, account, session);
      else await failSession(trx, accountId, id, session.last_error_code ?? 'recognizer_error');
    });
  for (const lost of await findSessionsWithoutLiveJob(db, transcriptionQueue, atATime)) {
    await rescue(lost).catch((error: unknown) =>
      log.warn({ err: error, sessionId: lost.id }, 'a session without a job could not be rescued yet'),
    );
  }
}

type Remover = Pick<WorkerContext, 'db' | 'audioStore' | 'log'>;

/** Removes audio that is not needed any more. What cannot be removed now is tried again by the next sweep. */
async function removeAudioOfFinalSessions(remover: Remover): Promise<void> {
  for (const { account_id, id } of await findAudioToRemove(remover.db, atATime))
    await removeAudio(remover, account_id, id);
}

/**
 * Removes the audio of a final session. The row is marked first, because a failed session may be put back to the queue
 * at any moment and needs its audio then. After a crash between both, the sweep removes the file.
 */
export async function removeAudio(
  { db, audioStore, log }: Remover,
  accountId: string,
  sessionId: string,
): Promise<void> {
  try {
    if (await markAudioDeletedIfUnneeded(db, accountId, sessionId)) await audioStore.remove(accountId, sessionId);
  } catch (error) {
    log.warn({ err: error, sessionId }, 'audio not removed yet');
  }
}

const dueAtATime = 100;

type Deleter = Pick<WorkerContext, 'db' | 'queue' | 'audioStore' | 'log' | 'stopping'>;

/** Once a minute, beside the sweeps: an account with very many sessions that are due at once does not hold those up. */
export async function keepRetention(worker: Deleter): Promise<void> {
  await everyMinute(worker, async (isFirst) => {
    if ((await acquireLease(worker.db, 'retention', turnSeconds)) || isFirst) await deleteDueSessions(worker);
  });
}

/** Deletes sessions whose `deleteAt` has come, as support does, each in a transaction of its own. */
export async function deleteDueSessions({ db, queue, audioStore, log, stopping }: Deleter): Promise<void> {
  let deleted = 0;
  for (let found = dueAtATime, after = firstDue; found === dueAtATime && !stopping.aborted;) {
    const due = await findDueSessions(db, after, dueAtATime);
    for (const { account_id: accountId, id } of due) {
      if (stopping.aborted) break;
      try {
        const outcome = await eraseSession({ db, queue, audioStore }, accountId, id);
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
