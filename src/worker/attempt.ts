/** One attempt at one session: claim it, transcribe, store. The session's row is the authority. */
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { tryInSavepoint } from '../../db/connection/transaction.ts';
import { countOtherActiveJobs } from '../../db/queue-tables.ts';
import { claimIfNotFinal, replaceJobIfNotFinal } from '../../db/sessions/attempts.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { AttemptFailed, expiryMarginSeconds, newJobId, transcriptionQueue } from '../queue/jobs.ts';
import { chargedMsOf, completeSession, failSession } from '../sessions/completion.ts';
import { indexSession } from '../../db/search/passages.ts';
import { searchDocumentOf } from '../search/passages.ts';
import { SpanKind, beginSpan, idsOf, inSpan } from '../tracing/tracing.ts';
import { scheduleBacklogScan } from './backlog.ts';
import { bytesNeeded } from './disk-budget.ts';
import { diskFullMessage } from './faults.ts';
import { ClaimLostError, AttemptTimedOut, settleFailed } from './outcome.ts';
import { sweepAudio } from './sweeps.ts';
import { transcribeRecording } from './transcription.ts';
import { enoughRoomBytes } from './worker-pause.ts';
import type { AccountWithLimits } from '../../db/accounts/accounts.ts';
import type { Trx } from '../../db/connection/database.ts';
import type { Attempt, Claim } from '../../db/sessions/attempts.ts';
import type { QueuedJob } from '../queue/jobs.ts';
import type { StoredTranscript } from '../sessions/completion.ts';
import type { TraceSpan } from '../tracing/tracing.ts';
import type { DiskReservation } from './disk-budget.ts';
import type { WorkerContext } from './worker-context.ts';

/** @throws a fault, or {@link AttemptFailed}: the queue tries again later */
export async function runJob(job: QueuedJob, worker: WorkerContext): Promise<void> {
  // The job was on its way to this worker when the pause began.
  if (worker.pause.fault !== undefined) return releaseJob(job, worker, 0);
  const room = await reserveDisk(job, worker);
  if ('retryAfterSeconds' in room) return releaseJob(job, worker, room.retryAfterSeconds);
  try {
    const claim = await claimJob(job, worker);
    if (claim === undefined) return;
    if (claim.attempt === 1) worker.metrics.timeInQueue.observe(claim.seconds_since_upload);
    const attributes = { 'transcription.session': job.data.sessionId, 'transcription.attempt': claim.attempt };
    const traced = beginSpan('attempt', { kind: SpanKind.CONSUMER, attributes }, claim.traceparent ?? undefined);
    await inSpan(traced, (span) => runAttempt(job, claim, room, span, worker));
  } finally {
    room.giveBack();
  }
}

/** When a recording that has no room on the disk is tried again. Shorter ones go on meanwhile. */
const lookAgainSeconds = 60;

/**
 * Makes sure that the disk has room for a job's decoded audio before the job is claimed. When the disk is full, the
 * worker takes no more jobs. When there is only too little room for this job, others go before it; so they do when jobs
 * that wait for the recognizer's server have what is missing.
 */
export async function reserveDisk(
  job: QueuedJob,
  { config, db, diskBudget, pause, log, checkDependencies, audioStore }: WorkerContext,
): Promise<DiskReservation | { retryAfterSeconds: number }> {
  const { accountId, sessionId } = job.data;
  const session = await findSessionRow(db, accountId, sessionId);
  const copyBytes = audioStore.fetchesCopies ? (session?.audio_bytes ?? 0) : 0;
  const neededBytes = session === undefined ? 0 : bytesNeeded(session.duration_ms ?? session.max_audio_ms) + copyBytes;
  try {
    const taken = await diskBudget.take(neededBytes);
    if (!('missingBytes' in taken)) return taken;
    const message = diskFullMessage(neededBytes, taken.missingBytes);
    if (neededBytes - taken.missingBytes < enoughRoomBytes && diskBudget.jobs < config.workerConcurrency) {
      pause.begin({ reason: 'disk', message }, neededBytes);
      return { retryAfterSeconds: 0 };
    }
    log.warn({ sessionId, neededBytes, missingBytes: taken.missingBytes }, 'a recording waits for room on the disk');
    return { retryAfterSeconds: lookAgainSeconds };
  } catch (error) {
    // Even the free space is unknown.
    const fault = await checkDependencies(neededBytes);
    if (fault === undefined) throw error;
    pause.begin(fault, neededBytes);
    return { retryAfterSeconds: 0 };
  }
}

async function runAttempt(
  job: QueuedJob,
  claim: Claim,
  room: DiskReservation,
  span: TraceSpan,
  { log: ofWorker, ...rest }: WorkerContext,
): Promise<void> {
  const { accountId, sessionId } = job.data;
  const attempt: Attempt = { accountId, sessionId, attempt: claim.attempt };
  const worker = { ...rest, log: ofWorker.child({ sessionId, attempt: claim.attempt, ...idsOf(span) }) };
  room.isOf(attempt);
  const began = performance.now();
  const timeLimitMs = (job.expireInSeconds - expiryMarginSeconds) * 1000;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new AttemptTimedOut()), timeLimitMs);
  const signal = AbortSignal.any([job.signal, worker.stopping, deadline.signal]);
  let failure: { error: unknown } | undefined;
  try {
    const { stored, reservedMs } = await transcribeRecording(attempt, claim, { timeLimitMs, signal, span }, worker);
    await inSpan(beginSpan('store', {}, span), () => store(job, attempt, claim.title, stored, reservedMs, worker));
  } catch (error) {
    failure = { error };
  } finally {
    clearTimeout(timer);
    worker.progress.delete(attempt);
  }
  // The sweep removes what can't be removed now, so no outcome waits for a disk that is gone.
  await worker.workFolder
    .remove(attempt)
    .catch((error: unknown) => worker.log.warn({ err: error }, 'decoded audio not removed yet'));
  room.giveBack();
  const outcome =
    failure === undefined
      ? 'completed'
      : await settleFailed(failure.error, { job, attempt, claim, room, began }, worker);
  const ms = performance.now() - began;
  worker.metrics.jobs.observe({ outcome }, ms / 1000);
  worker.log.info({ outcome, ms: Math.round(ms) }, 'attempt ended');
  span.setAttribute('transcription.outcome', outcome);
  if (outcome === 'completed') await sweepAudio(worker, accountId, sessionId);
}

/** @throws {ClaimLostError} nothing was stored, and nothing charged */
async function store(
  job: QueuedJob,
  attempt: Attempt,
  title: string,
  stored: StoredTranscript,
  reservedMs: number,
  { db, queue, log, metrics }: WorkerContext,
): Promise<void> {
  const { accountId } = attempt;
  // What was said is worth more than finding it: `keepIndexing` tries again.
  const notFindable = (error: unknown): undefined =>
    void log.error({ err: error }, 'the transcript can not be put into the search index now');
  const texts = { title, language: stored.language ?? null, segments: stored.segments };
  const findable = await searchDocumentOf(db, accountId, texts).catch(notFindable);
  await inAccountTransaction(db, accountId, async (trx) => {
    const isCompleted = await completeSession(trx, attempt, reservedMs, stored);
    const isOurs = isCompleted && (await queue.complete(trx, job));
    if (!isOurs) throw new ClaimLostError();
    const error = findable && (await tryInSavepoint(trx, () => indexSession(trx, attempt, findable)));
    if (error !== undefined) notFindable(error);
    if (findable === undefined || error !== undefined) await scheduleBacklogScan(trx);
  });
  metrics.chargedAudio.inc(chargedMsOf(stored) / 1000);
}

/**
 * Claims the session of a job for one attempt, unless its account already runs as many jobs as it may. The queue checks
 * this too, but workers that fetch in the same moment don't see each other's jobs. The account's lock puts them in
 * order.
 * @returns undefined when the queue gave the job to another attempt meanwhile; when nothing is left to do for this job: its
 *   session is final, deleted, has no attempt left or belongs to another job; or when the account may not run it now: then
 *   another job waits in its place, and the attempt does not count
 */
export async function claimJob(
  job: QueuedJob,
  worker: Pick<WorkerContext, 'db' | 'queue'>,
): Promise<Claim | undefined> {
  const { db, queue } = worker;
  const { accountId, sessionId } = job.data;
  return inAccountTransaction(db, accountId, async (trx, account) => {
    // Whoever lost the job decides nothing: another attempt may run.
    if (!(await queue.holds(trx, job))) return undefined;
    const others = await countOtherActiveJobs(trx, transcriptionQueue, accountId, job.id);
    if (account !== undefined && others >= Math.max(1, account.running_jobs))
      return replaceJob(trx, job, account, queue);
    const claim = await claimIfNotFinal(trx, accountId, sessionId, job.id);
    if (claim !== undefined) return claim;
    const session = await findSessionRow(trx, accountId, sessionId);
    if (session?.queue_job_id === job.id && session.attempts_left === 0)
      await failSession(trx, accountId, sessionId, session.last_error_code ?? 'recognizer_error');
    await queue.complete(trx, job);
    return undefined;
  });
}

/** Gives the session of a job that was taken another job in its place. The attempt does not count. */
function releaseJob(
  job: QueuedJob,
  { db, queue }: Pick<WorkerContext, 'db' | 'queue'>,
  afterSeconds: number,
): Promise<void> {
  return inAccountTransaction(db, job.data.accountId, (trx, account) =>
    replaceJob(trx, job, account, queue, afterSeconds),
  );
}

/** Ends a job, and gives its session another one, unless that is final or belongs to another job already. */
async function replaceJob(
  trx: Trx,
  job: QueuedJob,
  account: AccountWithLimits | undefined,
  queue: WorkerContext['queue'],
  afterSeconds = 0,
): Promise<undefined> {
  const { accountId, sessionId } = job.data;
  const session = account && (await replaceJobIfNotFinal(trx, accountId, sessionId, job.id, newJobId()));
  const isOurs = await queue.complete(trx, job);
  if (session === undefined) return;
  // The claim was lost meanwhile. Everything is rolled back, and the job stays with its new holder.
  if (!isOurs) throw new AttemptFailed('claim_lost');
  await queue.enqueue(trx, account!, session, afterSeconds);
}
