/** Once a minute: finds what a crash left behind. Any number of workers may sweep at once; every step is guarded. */
import { setTimeout as sleep } from 'node:timers/promises';
import { lockAccount } from '../../db/accounts.ts';
import { deleteExpiredIdempotencyRecords } from '../../db/idempotency.ts';
import { findSessionRow } from '../../db/sessions.ts';
import { replaceJobIfNotFinal } from '../../db/session-states.ts';
import { findAudioToRemove, findSessionsWithoutLiveJob, whichHaveAudio } from '../../db/sweeps.ts';
import { inTransaction } from '../../db/transaction.ts';
import { newJobId, transcriptionQueue } from '../queue.ts';
import { failSession } from '../session-endings.ts';
import { removeAudio } from './audio-removal.ts';
import type { LostSession } from '../../db/sweeps.ts';
import type { WorkerContext } from './context.ts';

const everyMs = 60_000;
const hourMs = 60 * 60 * 1000;
const atATime = 500;

/** Sweeps at once and then every minute, until the worker stops. */
export async function keepSweeping(worker: WorkerContext): Promise<void> {
  while (!worker.stopping.aborted) {
    await sweep(worker).catch((error: unknown) => worker.log.warn({ err: error }, 'sweep failed'));
    await sleep(everyMs, undefined, { signal: worker.stopping }).catch(() => {});
  }
}

export async function sweep(worker: WorkerContext): Promise<void> {
  const { db, audioStore } = worker;
  for (const lost of await findSessionsWithoutLiveJob(db, transcriptionQueue, atATime)) await rescue(lost, worker);
  for (const { account_id, id } of await findAudioToRemove(db, atATime)) await removeAudio(worker, account_id, id);
  await removeUnneededFiles(worker);
  await removeWorkOfOthers(worker);
  for await (const path of audioStore.abandonedIncoming(Date.now() - hourMs)) await audioStore.removeIncoming(path);
  await deleteExpiredIdempotencyRecords(db);
}

/** A session without a job gets another one, or fails when its attempts are spent. */
async function rescue(lost: LostSession, { db, queue, log }: WorkerContext): Promise<void> {
  const { account_id: accountId, id: sessionId } = lost;
  log.warn({ sessionId, attemptsLeft: lost.attempts_left }, 'a session had lost its job');
  await inTransaction(db, async (trx) => {
    const account = await lockAccount(trx, accountId);
    if (account === undefined) return;
    if (lost.attempts_left === 0) {
      const session = await findSessionRow(trx, accountId, sessionId);
      if (session?.queue_job_id !== lost.queue_job_id) return;
      await failSession(trx, accountId, sessionId, lost.last_error_code ?? 'recognizer_error');
      return;
    }
    const id = newJobId();
    if (!(await replaceJobIfNotFinal(trx, accountId, sessionId, lost.queue_job_id, id))) return;
    await queue.enqueue(trx, {
      id,
      accountId,
      sessionId,
      durationMs: lost.duration_ms ?? account.max_audio_ms,
      attempts: lost.attempts_left,
      runningJobs: account.running_jobs,
    });
  });
}

/** Audio that no row needs: of uploads whose transaction did not commit, and of sessions that were deleted. */
async function removeUnneededFiles({ db, audioStore }: WorkerContext): Promise<void> {
  for await (const { accountId, sessionIds } of audioStore.olderThan(Date.now() - hourMs)) {
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
