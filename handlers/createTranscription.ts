import { randomUUIDv7 } from 'node:crypto';
import { inAccountTransaction } from '../db/account-transaction.ts';
import { changeReserved, findAccountInForce } from '../db/accounts.ts';
import { isKeyValid } from '../db/api-keys.ts';
import { findIdempotencyRecord, insertIdempotencyRecord } from '../db/idempotency.ts';
import { insertQueuedSession } from '../db/sessions/states.ts';
import { countQueued } from '../db/sessions/sessions.ts';
import { CommitOutcomeUnknown } from '../db/transaction.ts';
import { refuseIneligible, unauthorized } from '../src/api/access/auth.ts';
import { availableMs, reservationFor } from '../src/sessions/balance.ts';
import { giveJob } from '../src/sessions/job.ts';
import { ApiError } from '../src/api/answers/problem.ts';
import { maxAttempts, newJobId } from '../src/queue/queue.ts';
import { pollAgainSeconds } from '../src/sessions/view.ts';
import { fingerprintOf } from '../src/api/uploads/fingerprint.ts';
import { titleOf } from '../src/api/uploads/title.ts';
import { insufficientBalance, isRepeat, refuseFullQueue } from '../src/api/uploads/admission.ts';
import { measureUpload, refuseLongAudio } from '../src/api/uploads/measurement.ts';
import { fileTooLarge } from '../src/api/uploads/size.ts';
import type { Answer } from '../codegen/operations.ts';
import type { Handler, Input } from '../src/api/handler.ts';
import type { AccountInForce } from '../db/accounts.ts';
import type { Trx } from '../db/database.ts';
import type { Context } from '../src/api/context.ts';

type Request = Input<'createTranscription'>;

/** What the client gets to know, the first time and on every repetition. */
interface Accepted {
  sessionId: string;
  jobId: string;
}

/** POST /transcriptions (specification, section 4). Headers and form are checked, and the file was received whole. */
export const createTranscription: Handler<'createTranscription'> = async (request, ctx) => {
  const { principal, file, signal } = request;
  await refuseByHint(request, ctx);
  // Together: ffmpeg reads from memory what the disk is still writing.
  const account = { id: principal.account_id, maxAudioMs: principal.max_audio_ms };
  const [durationMs] = await Promise.all([measureUpload(file.path, account, signal), file.flushed]);

  const fresh: Accepted = { sessionId: randomUUIDv7(), jobId: randomUUIDv7() };
  let accepted: Accepted;
  try {
    await ctx.audioStore.keep(file.path, principal.account_id, fresh.sessionId);
    accepted = await inAccountTransaction(ctx.db, principal.account_id, (trx, account) =>
      accept(trx, account, request, ctx, fresh, durationMs),
    );
  } catch (error) {
    // Where nobody knows whether the session is there, its audio stays; the sweep removes it if it is not.
    if (!(error instanceof CommitOutcomeUnknown)) await removeAudio(ctx, principal.account_id, fresh.sessionId);
    throw error;
  }
  if (accepted !== fresh) await removeAudio(ctx, principal.account_id, fresh.sessionId);
  return answer(accepted, accepted !== fresh);
};

/** The answer doesn't depend on it: a file that could not be removed is found by the sweep. */
async function removeAudio({ audioStore, log }: Context, accountId: string, sessionId: string): Promise<void> {
  await audioStore
    .remove(accountId, sessionId)
    .catch((error: unknown) => log.warn({ err: error }, 'audio not removed yet'));
}

/** `durationMs` of the form only serves to refuse early. */
async function refuseByHint({ body, headers, principal }: Request, { db }: Context): Promise<void> {
  if (body.durationMs === undefined) return;
  const account = await findAccountInForce(db, principal.account_id);
  if (account === undefined || availableMs(account) >= body.durationMs) return;
  if (await isRepeat(db, principal.account_id, headers['idempotency-key'])) return;
  throw insufficientBalance(account, body.durationMs);
}

/** Session, reservation, idempotency record and job: all of them or none. */
async function accept(
  trx: Trx,
  account: AccountInForce | undefined,
  { principal, headers, body, file }: Request,
  { queue }: Context,
  fresh: Accepted,
  durationMs: number | undefined,
): Promise<Accepted> {
  const accountId = principal.account_id;
  if (account === undefined || account.deleted_at !== null) throw unauthorized(true);

  const key = headers['idempotency-key'];
  if (key !== undefined) {
    const fingerprint = fingerprintOf(file.sha256!, body);
    const record = { fingerprint, session_id: fresh.sessionId, job_id: fresh.jobId };
    if (!(await insertIdempotencyRecord(trx, { ...record, account_id: accountId, key }))) {
      return replay(trx, accountId, key, fingerprint);
    }
  }

  if (!(await isKeyValid(trx, accountId, principal.key_id))) throw unauthorized(true);
  refuseIneligible({ eligible: account.eligible, suspended: account.suspended_at !== null });
  if (file.sizeBytes > account.max_upload_bytes) throw fileTooLarge(account.max_upload_bytes);
  refuseLongAudio(durationMs, account.max_audio_ms);
  refuseFullQueue(await countQueued(trx, accountId), account.queued_sessions);
  const reservedMs = reservationFor(account, durationMs ?? null);
  if (reservedMs === undefined) throw insufficientBalance(account, durationMs);

  const session = await insertQueuedSession(trx, {
    accountId,
    id: fresh.sessionId,
    jobId: fresh.jobId,
    queueJobId: newJobId(),
    title: titleOf(file.originalName),
    durationMs,
    maxAudioMs: account.max_audio_ms,
    reservedMs,
    attempts: maxAttempts,
  });
  await changeReserved(trx, accountId, reservedMs);
  await giveJob(trx, queue, account, session);
  return fresh;
}

async function replay(trx: Trx, accountId: string, key: string, fingerprint: Buffer): Promise<Accepted> {
  const record = await findIdempotencyRecord(trx, accountId, key);
  if (record === undefined || !record.fingerprint.equals(fingerprint)) {
    throw new ApiError(
      422,
      'idempotency_key_reused',
      'This Idempotency-Key was used for another file or another form.',
    );
  }
  return { sessionId: record.session_id, jobId: record.job_id };
}

function answer(accepted: Accepted, isReplay: boolean): Answer<'createTranscription'> {
  return {
    status: 202,
    headers: {
      Location: `/v1/sessions/${accepted.sessionId}`,
      'Retry-After': pollAgainSeconds,
      ...(isReplay && { 'Idempotency-Replayed': true }),
    },
    body: { ...accepted, status: 'queued' },
  };
}
