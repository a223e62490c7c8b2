/**
 * What becomes of a session when an attempt did not complete it: whose fault it was, the decision, and the transaction that
 * carries it out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { isDatabaseFault } from '../../db/connection/database-errors.ts';
import { maxInfrastructureRetries, requeueIfProcessing } from '../../db/sessions/attempts.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { AudioError } from '../audio/audio-error.ts';
import { AudioUnreadable } from '../files/audio-store.ts';
import { dependencyErrorOf } from '../ops/dependency-error.ts';
import { AttemptFailed, newJobId } from '../queue/jobs.ts';
import { LanguageNotKnown, RecognizerError } from '../recognizers/recognizer.ts';
import { failSession } from '../sessions/completion.ts';
import type { FailureCode } from '../../db/schema.ts';
import type { Attempt, Claim } from '../../db/sessions/attempts.ts';
import type { QueuedJob } from '../queue/jobs.ts';
import type { WorkerContext } from './worker-context.ts';

/** Another attempt has the session, or the session is final. This attempt may store nothing. */
export class ClaimLostError extends Error {
  override readonly name = 'ClaimLostError';
}

export class AttemptTimedOut extends Error {
  override readonly name = 'AttemptTimedOut';
}

/** The audio is longer than what was reserved, and the balance does not cover the rest. */
export class InsufficientBalanceError extends Error {
  override readonly name = 'InsufficientBalanceError';
}

/** What becomes of an attempt that does not count. */
export interface Requeue {
  retryAfterSeconds: number;
  /** Whether it is one of the few that a session has. */
  countsAsInfrastructureRetry: boolean;
}

export type Outcome =
  /**
   * The worker stops, or the operator has a fault to fix. The session gets another job, and the attempt does not
   * count.
   */
  | ({ kind: 'handed_back' } & Requeue)
  /** This attempt may change nothing any more. */
  | { kind: 'claim_lost' }
  /** Another attempt would meet the same error: the session ends with this code. */
  | { kind: 'failed'; code: FailureCode; knownLanguages?: readonly string[] | undefined }
  /** The attempt counts. If it was the last one, the session fails with this code. */
  | { kind: 'retried'; code: FailureCode };

/** What becomes of an attempt that this error ended, unless the fault is the operator's. */
export function classifyOutcome(error: unknown): Outcome {
  if (error instanceof ClaimLostError) return { kind: 'claim_lost' };
  if (error instanceof InsufficientBalanceError) return { kind: 'failed', code: 'insufficient_balance' };
  if (error instanceof AttemptTimedOut) return { kind: 'retried', code: 'timed_out' };
  if (error instanceof AudioError) return { kind: error.code === 'timed_out' ? 'retried' : 'failed', code: error.code };
  if (error instanceof AudioUnreadable) return { kind: 'retried', code: 'audio_unreadable' };
  if (error instanceof LanguageNotKnown)
    return { kind: 'failed', code: 'language_not_supported', knownLanguages: error.known };
  if (error instanceof RecognizerError) return { kind: error.retryable ? 'retried' : 'failed', code: error.code };
  return { kind: 'retried', code: 'recognizer_error' };
}

interface Failed {
  job: QueuedJob;
  attempt: Attempt;
  claim: Pick<Claim, 'infrastructure_retries'>;
  /** Room on the disk that the session needs. */
  room: { bytes: number };
  /** When the attempt did, by `performance.now()`. */
  began: number;
}

/** While the database refuses to record an attempt's end, which would count unrecorded. */
const againAfterMs = 3_000;

/**
 * Ends an attempt that failed. Call it after the attempt has removed its files: they must not make the disk look full.
 * @param worker its log names the attempt
 * @returns what became of the session
 * @throws what the database said when the worker stops, or has lost the job
 */
export async function settleFailed(error: unknown, failed: Failed, worker: WorkerContext): Promise<Outcome['kind']> {
  const { job, attempt } = failed;
  const { log, stopping } = worker;
  const outcome = await decideOutcome(error, failed, worker);
  // The client sees only the code. The reason is for support.
  if (outcome.kind === 'retried') log.error({ err: error }, 'attempt failed; there is another unless it was the last');
  if (outcome.kind === 'failed' && error instanceof RecognizerError && !(error instanceof LanguageNotKnown))
    log.error({ err: error }, 'the recognizer refuses, now and always');
  const ended = AbortSignal.any([job.signal, stopping]);
  for (;;) {
    try {
      return await settle(outcome, job, attempt, worker);
    } catch (refusal) {
      if (ended.aborted || !isDatabaseFault(refusal)) throw refusal;
      log.warn({ err: refusal }, 'the end of the attempt can not be recorded yet');
      await sleep(againAfterMs, undefined, { signal: ended }).catch(() => {});
    }
  }
}

/** Whatever the error is: who lost the job has nothing to give, and a worker that stops hands it back. */
async function decideOutcome(error: unknown, failed: Failed, worker: WorkerContext): Promise<Outcome> {
  if (failed.job.signal.aborted) return { kind: 'claim_lost' };
  if (worker.stopping.aborted) return { kind: 'handed_back', retryAfterSeconds: 0, countsAsInfrastructureRetry: false };
  const operators = await classifyFailure(error, failed, worker);
  return operators === undefined ? classifyOutcome(error) : { kind: 'handed_back', ...operators };
}

/**
 * Looks for the operator's fault if the error may come from one.
 *
 * - When a fault is found, the worker takes no more jobs until it is fixed, and the session goes back at once.
 * - When none is found any more, the recognizer's server is away, or the time was over while it had no room, it goes back as
 *   well, each time for longer, but spends a free attempt. Otherwise a file on which ffmpeg always runs out of memory, or which makes the server crash,
 *   would be tried for ever.
 *
 * @returns undefined when the attempt counts
 */
export async function classifyFailure(
  error: unknown,
  { attempt: { sessionId }, claim, room: { bytes: neededBytes }, began }: Omit<Failed, 'job'>,
  { checkDependencies, pause, log }: Pick<WorkerContext, 'checkDependencies' | 'pause' | 'log'>,
): Promise<Requeue | undefined> {
  const lackedRoom = error instanceof AttemptTimedOut && pause.lackedRoomSince(began);
  if (isPermanentFailure(error) && !lackedRoom) return undefined;
  const fault = await checkDependencies(neededBytes);
  if (fault !== undefined) pause.begin(fault, neededBytes);
  const isOperators = lackedRoom || dependencyErrorOf(error) !== undefined || isDatabaseFault(error);
  const isOver = fault === undefined && isOperators;
  const countsAsInfrastructureRetry = isOver || lackedRoom || fault?.reason === 'server';
  if (fault === undefined && !isOver) return undefined;
  if (countsAsInfrastructureRetry && claim.infrastructure_retries >= maxInfrastructureRetries) return undefined;
  log.warn({ err: error, sessionId, fault: fault?.reason }, 'the attempt is not spent: what failed is not the audio');
  return {
    retryAfterSeconds: countsAsInfrastructureRetry ? pauseSeconds(claim.infrastructure_retries) : 0,
    countsAsInfrastructureRetry,
  };
}

/** 5, 20, 80, 300 and 300 s: a lack of memory that lasts ten minutes costs no session an attempt that counts. */
const pauseSeconds = (taken: number) => Math.min(300, 5 * 4 ** taken);

/**
 * Whether the error certainly has nothing to do with disks and programs: it is about the audio, its language, the
 * balance, the claim or the time. `unsupported_media` is not certain, because a full disk may be the reason why nothing
 * could be decoded.
 */
function isPermanentFailure(error: unknown): boolean {
  if (error instanceof AudioError) return error.code !== 'unsupported_media';
  const hasTimedOut = error instanceof RecognizerError && error.code === 'timed_out';
  return (
    [AudioUnreadable, ClaimLostError, InsufficientBalanceError, AttemptTimedOut, LanguageNotKnown].some(
      (kind) => error instanceof kind,
    ) || hasTimedOut
  );
}

/** When an attempt that counts is followed by the next one. */
const nextAttemptSeconds = 5;

/**
 * Carries out an outcome if the session still belongs to this attempt. What is not final gets another job. The last attempt
 * fails the session at once.
 *
 * @returns what became of the session: `failed` after a last attempt
 * @throws {AttemptFailed} the queue gave the job to another attempt
 * @throws any error of the database, so that the queue notices the end of the attempt by itself
 */
async function settle(
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
    if (!isOurs) {
      await queue.complete(trx, job);
      return outcome.kind;
    }
    const isLast = outcome.kind === 'retried' && session.attempts_left === 0;
    if (outcome.kind === 'failed') await failSession(trx, accountId, sessionId, outcome.code, outcome.knownLanguages);
    else if (isLast) await failSession(trx, accountId, sessionId, outcome.code);
    else {
      const spent =
        outcome.kind === 'retried'
          ? { attempts: 1, infrastructureRetries: 0, errorCode: outcome.code }
          : { attempts: 0, infrastructureRetries: outcome.countsAsInfrastructureRetry ? 1 : 0 };
      const queued = await requeueIfProcessing(trx, attempt, newJobId(), spent);
      const afterSeconds = outcome.kind === 'retried' ? nextAttemptSeconds : outcome.retryAfterSeconds;
      await queue.enqueue(trx, account, queued!, afterSeconds);
    }
    if (!(await queue.complete(trx, job))) throw new AttemptFailed('claim_lost');
    return isLast ? 'failed' : outcome.kind;
  });
}
