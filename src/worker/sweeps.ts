/**
 * What runs once a minute beside the jobs, and finds what a crash or a jump of the clock left behind. Any number of workers may
 * sweep at once; every step is guarded.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { acquireLease } from '../../db/leases.ts';
import { findSessionsWithoutLiveJob, resetFutureTimestamps } from '../../db/queue-tables.ts';
import { replaceJobIfNotFinal } from '../../db/sessions/attempts.ts';
import { deleteExpiredIdempotencyRecords } from '../../db/sessions/idempotency.ts';
import {
  findAudioToRemove,
  findDueSessions,
  firstDue,
  markAudioDeletedIfUnneeded,
  whichHaveAudio,
} from '../../db/sessions/removal.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { byAccount, isId } from '../files/audio-store.ts';
import { newJobId, transcriptionQueue } from '../queue/jobs.ts';
import { failSession } from '../sessions/completion.ts';
import { eraseSession } from '../sessions/support.ts';
import type { LostSession } from '../../db/queue-tables.ts';
import type { WorkerContext } from './worker-context.ts';

export const minuteMs = 60_000;
/** A little less, so that the worker of the last turn is not too early for the next one. */
const everyMinuteSeconds = 55;
/** Many machines may share one store, which may be large. */
const listAudioEverySeconds = 60 * 60;

/** Works so often, first at once, until the worker stops. @param lease what one worker does for all, and how often */
export async function repeat(
  { db, log, stopping }: Pick<WorkerContext, 'db' | 'log' | 'stopping'>,
  everyMs: number,
  work: () => Promise<void>,
  lease?: { name: string; everySeconds: number },
): Promise<void> {
  while (!stopping.aborted) {
    try {
      if (lease === undefined || (await acquireLease(db, lease.name, lease.everySeconds))) await work();
    } catch (error) {
      log.warn({ err: error }, 'what a worker does again and again was interrupted');
    }
    await sleep(everyMs, undefined, { signal: stopping }).catch(() => {});
  }
}

/** What takes long holds up nothing else: an account with very many sessions that are due at once, or a large store. */
export async function keepSweeping(worker: WorkerContext): Promise<void> {
  await Promise.all([
    repeat(worker, minuteMs, () => sweep(worker), { name: 'sweep', everySeconds: everyMinuteSeconds }),
    repeat(worker, minuteMs, () => deleteDueSessions(worker), { name: 'retention', everySeconds: everyMinuteSeconds }),
    repeat(worker, minuteMs, () => removeOrphans(worker), { name: 'list audio', everySeconds: listAudioEverySeconds }),
    repeat(worker, minuteMs, () => removeWorkOfEndedAttempts(worker)),
  ]);
}

type Sweeper = Pick<WorkerContext, 'db' | 'queue' | 'log' | 'audioStore' | 'stopping'>;

/** Does every step, whether or not another one fails. */
export async function sweep(worker: Sweeper): Promise<void> {
  const forgetIdempotencyKeys = () => deleteExpiredIdempotencyRecords(worker.db);
  for (const step of [mendQueue, rescueSessions, removeAudioOfFinalSessions, forgetIdempotencyKeys]) {
    if (worker.stopping.aborted) return;
    await step(worker).catch((error: unknown) => worker.log.warn({ err: error, step: step.name }, 'sweep failed'));
  }
}

const atATime = 500;

async function mendQueue({ db, log }: Sweeper): Promise<void> {
  const jobs = await resetFutureTimestamps(db, transcriptionQueue);
  if (jobs > 0) log.warn({ jobs }, "the database's clock was set back: jobs that waited for the future may begin");
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
      if (session.attempts_left > 0) await queue.enqueue(trx, account, session);
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
    await sweepAudio(remover, account_id, id);
}

/**
 * Removes the audio of a final session. The row is marked first, because a failed session may be put back to the queue
 * at any moment and needs its audio then. After a crash between both, the sweep removes the file.
 */
export async function sweepAudio(
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
        // The next minute tries again. One failure does not stop the rest.
        log.warn({ err: error, sessionId: id }, 'a session whose time has come was not deleted yet');
      }
    }
    found = due.length;
    after = due.at(-1) ?? after;
  }
  if (deleted > 0) log.info({ sessions: deleted }, 'sessions were deleted, as their retention says');
}

/** No upload takes so long from its stored audio to its row. */
const youngMs = 30 * 60 * 1000;
/** How long audio has to look superfluous. */
const patienceMs = 10 * 60_000;
const listedAtATime = 1_000;
/** Those beyond it wait for the next list of the audio. */
const maxSuspects = 100_000;

/**
 * Removes audio that no row needs: of uploads whose transaction did not commit, and of sessions that were deleted. A clock
 * that jumps makes every file look old, also the file of an upload that is about to commit. So a file is removed only if
 * no session needs it ten minutes later either, by a clock that never jumps. No upload is without a new byte and without a row
 * for so long.
 * @param wait ends early when the worker stops
 */
export async function removeOrphans(
  { db, audioStore, log, stopping }: Pick<WorkerContext, 'db' | 'audioStore' | 'log' | 'stopping'>,
  wait = (ms: number) => sleep(ms, undefined, { signal: stopping }).catch(() => {}),
): Promise<void> {
  const onUnreadable = (error: unknown) => log.warn({ err: error }, 'the audio of an account can not be listed');
  const suspects: { accountId: string; sessionId: string }[] = [];
  for await (const { accountId, files } of byAccount(audioStore.list(onUnreadable), listedAtATime)) {
    const old = files.filter(({ name, keptMs }) => isId(name) && keptMs > youngMs).map(({ name }) => name);
    const needed = await whichHaveAudio(db, accountId, old);
    for (const sessionId of old)
      if (!needed.has(sessionId) && suspects.length < maxSuspects) suspects.push({ accountId, sessionId });
  }
  const notYet = (error: unknown) => log.warn({ err: error }, 'parts of abandoned uploads were not removed yet');
  await audioStore.endAbandonedPuts().catch(notYet);
  if (suspects.length > 0) await wait(patienceMs);
  for (const { accountId, sessionId } of suspects) {
    if (stopping.aborted) return;
    if ((await whichHaveAudio(db, accountId, [sessionId])).has(sessionId)) continue;
    try {
      await audioStore.remove(accountId, sessionId);
    } catch (error) {
      // One that can't be removed does not stop the rest, unless the store itself is away: the next list finds it again.
      await audioStore.checkReadable();
      log.warn({ err: error, accountId, sessionId }, 'audio that nobody needs was not removed yet');
    }
  }
}

/** Removes decoded audio of attempts that are over, whichever worker made them. Each worker does it on its own disk. */
export async function removeWorkOfEndedAttempts({
  db,
  workFolder,
  log,
}: Pick<WorkerContext, 'db' | 'workFolder' | 'log'>): Promise<void> {
  for await (const { attempt } of workFolder.files()) {
    if (attempt === undefined) continue;
    const session = await findSessionRow(db, attempt.accountId, attempt.sessionId);
    const isRunning = session?.status === 'processing' && session.attempt === attempt.attempt;
    if (isRunning) continue;
    await workFolder
      .remove(attempt)
      .catch((error: unknown) => log.warn({ err: error, ...attempt }, 'decoded audio was not removed yet'));
  }
}
