/** One attempt at one session: decode, make sure it is paid for, recognize, store. The session's row is the authority. */
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { tryInSavepoint } from '../../db/connection/transaction.ts';
import { expiryMarginSeconds } from '../queue/jobs.ts';
import { AttemptFailed } from '../queue/jobs.ts';
import { LanguageNotKnown, RecognizerError } from '../recognizers/recognizer.ts';
import { chargedMsOf, completeSession } from '../sessions/endings.ts';
import { findableOf, makeFindable } from '../sessions/indexing.ts';
import { SpanKind, beginSpan, idsOf, within } from '../tracing/tracing.ts';
import { removeAudio } from './audio-removal.ts';
import { lookThroughSoon } from './backlog.ts';
import { transcribeRecording } from './transcription.ts';
import { classifyFailure } from './failure-classes.ts';
import { ClaimLost, TimeIsUp, outcomeOf, settle, settleUnclaimed } from './outcomes.ts';
import { recorded } from './recording.ts';
import { toStoredTranscript } from './stored-transcript.ts';
import { claimInTurn, requeueFirst } from './turn.ts';
import { reserveDisk } from './disk-of-job.ts';
import { warningsOf } from './warnings.ts';
import type { Attempt, Claim } from '../../db/sessions/attempts.ts';
import type { QueuedJob } from '../queue/jobs.ts';
import type { TraceSpan } from '../tracing/tracing.ts';
import type { WorkerContext } from './worker-context.ts';
import type { RoomOfJob } from './disk-of-job.ts';

/** @throws what makes the queue try again later; the session is back in the queue then */
export async function runJob(job: QueuedJob, worker: WorkerContext): Promise<void> {
  // The job was on its way to this worker when the pause began.
  if (worker.pause.fault !== undefined) return requeueFirst(job, worker);
  const room = await reserveDisk(job, worker);
  if ('comesAgainAfterSeconds' in room) return requeueFirst(job, worker, room.comesAgainAfterSeconds);
  try {
    await runAttempt(job, room, worker);
  } finally {
    room.giveBack();
  }
}

async function runAttempt(job: QueuedJob, room: RoomOfJob, worker: WorkerContext): Promise<void> {
  const { accountId, sessionId } = job.data;
  const claim = await claimInTurn(job, worker);
  if (claim === 'put back' || claim === 'lost') return;
  if (claim === undefined) return settleUnclaimed(job, worker);
  if (claim.attempt === 1) worker.metrics.timeInQueue.observe(claim.seconds_since_upload);

  const attempt: Attempt = { accountId, sessionId, attempt: claim.attempt };
  const attributes = { 'transcription.session': sessionId, 'transcription.attempt': claim.attempt };
  const traced = beginSpan('attempt', { kind: SpanKind.CONSUMER, attributes }, claim.traceparent ?? undefined);
  await within(traced, (span) => runClaimed(job, { attempt, claim, room, span }, worker));
}

interface Claimed {
  attempt: Attempt;
  claim: Claim;
  room: RoomOfJob;
  span: TraceSpan;
}

async function runClaimed(job: QueuedJob, claimed: Claimed, worker: WorkerContext): Promise<void> {
  const { attempt, room, span } = claimed;
  const { accountId, sessionId } = attempt;
  const log = worker.log.child({ sessionId, attempt: attempt.attempt, ...idsOf(span) });
  const began = performance.now();
  const observe = (outcome: string) => {
    worker.metrics.jobs.observe({ outcome }, (performance.now() - began) / 1000);
    log.info({ outcome, ms: Math.round(performance.now() - began) }, 'attempt ended');
    span.setAttribute('transcription.outcome', outcome);
  };
  room.isOf(attempt);
  try {
    await transcribe(job, claimed, { ...worker, log });
  } catch (error) {
    await tidyUp(attempt, worker);
    room.giveBack();
    const isStopping = worker.stopping.aborted;
    const hasLostJob = job.signal.aborted;
    const isEnded = isStopping || hasLostJob;
    const operators = isEnded ? undefined : await classifyFailure(error, claimed, worker);
    const outcome = outcomeOf(error, { isStopping, hasLostJob, operators });
    // The client sees only the code. The reason is for support.
    if (outcome.kind === 'retried')
      log.error({ err: error }, 'attempt failed; there is another unless it was the last');
    if (outcome.kind === 'failed' && error instanceof RecognizerError && !(error instanceof LanguageNotKnown))
      log.error({ err: error }, 'the recognizer refuses, now and always');
    const settled = await recorded(() => settle(outcome, job, attempt, worker), job, { ...worker, log });
    observe(settled);
    if (outcome.kind === 'retried' && settled === 'retried') throw new AttemptFailed(outcome.code);
    return;
  }
  observe('completed');
  await tidyUp(attempt, worker);
  await removeAudio(worker, accountId, sessionId);
}

/**
 * Removes the attempt's files. The sweep removes what can't be removed now, so no outcome waits for a disk that is
 * gone.
 */
async function tidyUp(attempt: Attempt, { workFolder, log }: WorkerContext): Promise<void> {
  await workFolder.remove(attempt).catch((error: unknown) => log.warn({ err: error }, 'decoded audio not removed yet'));
}

/** @param worker its log names the attempt */
async function transcribe(job: QueuedJob, { attempt, claim, span }: Claimed, worker: WorkerContext): Promise<void> {
  const { db, queue, log } = worker;
  const { accountId } = attempt;
  const timeLimitMs = (job.expireInSeconds - expiryMarginSeconds) * 1000;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new TimeIsUp()), timeLimitMs);
  const signal = AbortSignal.any([job.signal, worker.stopping, deadline.signal]);
  try {
    const { transcript, durationMs, audioWarnings, uncertain, reservedMs } = await transcribeRecording(
      attempt,
      claim,
      { timeLimitMs, signal, span, onProgress: (percent) => worker.progress.report(attempt, percent) },
      worker,
    );
    const language = claim.language ?? transcript.language;
    const warnings = warningsOf(audioWarnings, uncertain);
    const stored = toStoredTranscript({ ...transcript, language }, durationMs, warnings);
    const texts = { title: claim.title, language: stored.language ?? null, segments: stored.segments };
    await within(beginSpan('store', {}, span), async () => {
      // What was said is worth more than finding it: `keepIndexing` tries again.
      const notFindable = (error: unknown): undefined =>
        void log.error({ err: error }, 'the transcript can not be put into the search index now');
      const findable = await findableOf(db, accountId, texts).catch(notFindable);
      await inAccountTransaction(db, accountId, async (trx) => {
        const isCompleted = await completeSession(trx, attempt, reservedMs, stored);
        const isOurs = isCompleted && (await queue.complete(trx, job));
        if (!isOurs) throw new ClaimLost();
        const error = findable && (await tryInSavepoint(trx, () => makeFindable(trx, attempt, findable)));
        if (error !== undefined) notFindable(error);
        if (findable === undefined || error !== undefined) await lookThroughSoon(trx);
      });
      worker.metrics.chargedAudio.inc(chargedMsOf(stored) / 1000);
    });
  } finally {
    clearTimeout(timer);
    worker.progress.end(attempt);
  }
}
