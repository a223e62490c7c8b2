/** What becomes of a session whose attempt did not complete it. */
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { lockAccount } from '../../db/accounts.ts';
import { handBackIfProcessing, requeueIfProcessing } from '../../db/sessions/attempts.ts';
import { inTransaction } from '../../db/transaction.ts';
import { AudioError } from '../audio/audio-error.ts';
import { AttemptFailed, newJobId } from '../queue/queue.ts';
import { RecognizerError } from '../recognizers/recognizer.ts';
import { failSession } from '../sessions/endings.ts';
import { ClaimLost } from './claim-lost.ts';
import { NotCovered } from './reservation.ts';
import type { Attempt } from '../../db/sessions/attempts.ts';
import type { Log } from '../log.ts';
import type { QueuedJob } from '../queue/queue.ts';
import type { WorkerContext } from './context.ts';

/** The attempt's time limit is over. */
export class TimeIsUp extends Error {
  override readonly name = 'TimeIsUp';
}

/**
 * @throws {AttemptFailed} when the queue is to try again; any error of the database, so that the queue finds out itself
 */
export async function endFailedAttempt(
  error: unknown,
  job: QueuedJob,
  attempt: Attempt,
  worker: WorkerContext,
  observe: (outcome: string) => void,
  log: Log,
): Promise<void> {
  if (worker.stopping.aborted && !job.signal.aborted) {
    await handBack(job, attempt, worker);
    return observe('handed_back');
  }
  if (error instanceof ClaimLost || job.signal.aborted) return observe('claim_lost');

  const finalCode = codeOfFinal(error);
  if (finalCode !== undefined) {
    // The client gets no more than the code; why is for support.
    if (error instanceof RecognizerError) log.error({ err: error }, 'the recognizer refuses, now and always');
    await failNow(job, attempt, finalCode, worker);
    return observe('failed');
  }
  const code = error instanceof TimeIsUp || hasTimedOut(error) ? 'timed_out' : 'recognizer_error';
  log.error({ err: error }, 'attempt failed; the queue decides whether there is another');
  await requeueIfProcessing(worker.db, attempt, code);
  observe('retried');
  throw new AttemptFailed(code);
}

/** The code of an error that another attempt would meet again. */
function codeOfFinal(error: unknown): string | undefined {
  if (error instanceof NotCovered) return 'insufficient_balance';
  if (error instanceof AudioError && error.code !== 'timed_out') return error.code;
  if (error instanceof RecognizerError && !error.retryable) return error.code;
  return undefined;
}

const hasTimedOut = (error: unknown) =>
  (error instanceof AudioError || error instanceof RecognizerError) && error.code === 'timed_out';

async function failNow(job: QueuedJob, attempt: Attempt, code: string, { db, queue }: WorkerContext): Promise<void> {
  await inTransaction(db, async (trx) => {
    // The account first, as everywhere; then whether the session is still this attempt's.
    await lockAccount(trx, attempt.accountId);
    const session = await findSessionRow(trx, attempt.accountId, attempt.sessionId);
    const isOurs = session?.status === 'processing' && session.attempt === attempt.attempt;
    if (isOurs) await failSession(trx, attempt.accountId, attempt.sessionId, code);
    if (!(await queue.complete(trx, job)) && isOurs) throw new AttemptFailed('claim_lost');
  });
}

/** A stopping worker gives its session to a successor job, without spending an attempt. */
async function handBack(job: QueuedJob, attempt: Attempt, { db, queue }: WorkerContext): Promise<void> {
  const { accountId, sessionId } = attempt;
  await inTransaction(db, async (trx) => {
    const account = await lockAccount(trx, accountId);
    const session = await findSessionRow(trx, accountId, sessionId);
    const id = newJobId();
    const handed = await handBackIfProcessing(trx, attempt, id);
    const isCompleted = await queue.complete(trx, job);
    if (handed === undefined || account === undefined) return;
    if (!isCompleted) throw new AttemptFailed('claim_lost');
    await queue.enqueue(trx, {
      id,
      accountId,
      sessionId,
      durationMs: session?.duration_ms ?? session?.max_audio_ms ?? account.max_audio_ms,
      attempts: handed.attemptsLeft,
      runningJobs: account.running_jobs,
      isFirst: true,
    });
  });
}

/** A job whose session is final, gone, or another job's by now has nothing to do. */
export async function settleUnclaimed(job: QueuedJob, { db, queue, log }: WorkerContext): Promise<void> {
  log.info({ sessionId: job.data.sessionId }, 'nothing left to do for this job');
  await inTransaction(db, async (trx) => {
    const { accountId, sessionId } = job.data;
    await lockAccount(trx, accountId);
    const session = await findSessionRow(trx, accountId, sessionId);
    const hasNoAttemptLeft = session?.queue_job_id === job.id && session.attempts_left === 0;
    if (hasNoAttemptLeft) await failSession(trx, accountId, sessionId, session.last_error_code ?? 'recognizer_error');
    await queue.complete(trx, job);
  });
}
