/** What becomes of a session whose attempt did not complete it: first the decision, then the one transaction that carries it out. */
import { inAccountTransaction } from '../../db/account-transaction.ts';
import { handBackIfProcessing, requeueIfProcessing } from '../../db/sessions/attempts.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { AudioError } from '../audio/audio-error.ts';
import { AttemptFailed } from '../queue/jobs.ts';
import { newJobId } from '../queue/queue.ts';
import { RecognizerError } from '../recognizers/recognizer.ts';
import { failSession } from '../sessions/endings.ts';
import { giveJob } from '../sessions/job.ts';
import type { FailureCode } from '../../db/schema.ts';
import type { Attempt } from '../../db/sessions/attempts.ts';
import type { QueuedJob } from '../queue/jobs.ts';
import type { WorkerContext } from './context.ts';

/** Another attempt has the session, or it is final: nothing of this one may be stored. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** The attempt's time limit is over. */
export class TimeIsUp extends Error {
  override readonly name = 'TimeIsUp';
}

/** The audio turned out longer than was reserved, and the balance doesn't cover the rest. */
export class NotCovered extends Error {
  override readonly name = 'NotCovered';
}

export type Outcome =
  /** The worker stops, or the operator has something to put right: a successor job gets the session, no attempt is spent. */
  | { kind: 'handed_back'; comesAgainAfterSeconds: number }
  /** Nothing of this attempt counts any more. */
  | { kind: 'claim_lost' }
  /** Another attempt would meet the same error: the session ends with this code. */
  | { kind: 'failed'; code: FailureCode }
  /** The attempt is spent. The session fails with this code when it was the last. */
  | { kind: 'retried'; code: FailureCode };

interface Facts {
  isStopping: boolean;
  hasLostJob: boolean;
  operators?: { comesAgainAfterSeconds: number } | undefined;
}

/**
 * @param error what ended the attempt
 * @param facts.isStopping whether the worker was asked to stop
 * @param facts.hasLostJob whether the queue took the job away
 * @param facts.operators when it is to come again, if what failed is the operator's fault
 */
export function outcomeOf(error: unknown, { isStopping, hasLostJob, operators }: Facts): Outcome {
  if (hasLostJob) return { kind: 'claim_lost' };
  if (isStopping) return { kind: 'handed_back', comesAgainAfterSeconds: 0 };
  if (operators !== undefined) return { kind: 'handed_back', ...operators };
  if (error instanceof ClaimLost) return { kind: 'claim_lost' };
  if (error instanceof NotCovered) return { kind: 'failed', code: 'insufficient_balance' };
  if (error instanceof TimeIsUp) return { kind: 'retried', code: 'timed_out' };
  if (error instanceof AudioError) return { kind: error.code === 'timed_out' ? 'retried' : 'failed', code: error.code };
  if (error instanceof RecognizerError) return { kind: error.retryable ? 'retried' : 'failed', code: error.code };
  return { kind: 'retried', code: 'recognizer_error' };
}

/**
 * Carries out an outcome, if the session is still this attempt's. The job of an attempt that is spent (`retried`) is left
 * to the queue, which counts it. The last attempt fails the session at once.
 *
 * @returns what became of it: `failed` after a last attempt
 * @throws {AttemptFailed} the queue gave the job to another attempt; any error of the database, so that the queue finds out itself
 */
export async function settle(
  outcome: Outcome,
  job: QueuedJob,
  attempt: Attempt,
  { db, queue }: Pick<WorkerContext, 'db' | 'queue'>,
): Promise<Outcome['kind']> {
  if (outcome.kind === 'claim_lost') return outcome.kind;
  const { accountId, sessionId } = attempt;
  return inAccountTransaction(db, accountId, async (trx, account) => {
    const session = await findSessionRow(trx, accountId, sessionId);
    const isOurs = account !== undefined && session?.status === 'processing' && session.attempt === attempt.attempt;
    const isLast = isOurs && outcome.kind === 'retried' && session.attempts_left === 0;
    if (isLast || (isOurs && outcome.kind === 'failed')) await failSession(trx, accountId, sessionId, outcome.code);
    if (isOurs && outcome.kind === 'handed_back') {
      const handed = await handBackIfProcessing(trx, attempt, newJobId());
      if (handed !== undefined) {
        const afterSeconds = outcome.comesAgainAfterSeconds;
        await giveJob(trx, queue, account, handed, { isFirst: true, afterSeconds });
      }
    }
    if (outcome.kind === 'retried' && !isLast) {
      if (isOurs) await requeueIfProcessing(trx, attempt, outcome.code);
      return outcome.kind;
    }
    if (!(await queue.complete(trx, job)) && isOurs) throw new AttemptFailed('claim_lost');
    return isLast ? 'failed' : outcome.kind;
  });
}

/** A job whose session is final, gone, or another job's by now has nothing to do. */
export async function settleUnclaimed(job: QueuedJob, { db, queue, log }: WorkerContext): Promise<void> {
  log.info({ sessionId: job.data.sessionId }, 'nothing left to do for this job');
  const { accountId, sessionId } = job.data;
  await inAccountTransaction(db, accountId, async (trx) => {
    const session = await findSessionRow(trx, accountId, sessionId);
    const hasNoAttemptLeft = session?.queue_job_id === job.id && session.attempts_left === 0;
    if (hasNoAttemptLeft) await failSession(trx, accountId, sessionId, session.last_error_code ?? 'recognizer_error');
    await queue.complete(trx, job);
  });
}
