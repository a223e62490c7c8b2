import { createHash, randomUUIDv7 } from 'node:crypto';
import { inAccountTransaction } from '../db/accounts/account-transaction.ts';
import { availableMs, changeReserved, findQuota, reservationFor } from '../db/accounts/accounts.ts';
import { isKeyValid } from '../db/accounts/api-keys.ts';
import { findIdempotencyRecord, insertIdempotencyRecord } from '../db/sessions/idempotency.ts';
import { nextStartTag } from '../db/sessions/start-tag.ts';
import { deleteAt, insertQueuedSession } from '../db/sessions/states.ts';
import { countQueued } from '../db/sessions/sessions.ts';
import { findSharedLanguages } from '../db/leases.ts';
import { CommitOutcomeUnknown } from '../db/connection/transaction.ts';
import { refuseIneligible, unauthorized } from '../src/api/access/auth.ts';
import { indexSession } from '../db/search/passages.ts';
import { searchDocumentOf } from '../src/search/passages.ts';
import { ApiError, unavailable } from '../src/api/answers/problem.ts';
import { maxAttempts, newJobId, transcriptionQueue } from '../src/queue/jobs.ts';
import { canonicalTag, primaryOf } from '../src/languages/tags.ts';
import { pollAgainSeconds, toSessionError } from '../src/sessions/view.ts';
import { insufficientBalance, refuseFullQueue } from '../src/api/uploads/upload.ts';
import { refuseLongAudio } from '../src/api/uploads/measurement.ts';
import { fileTooLarge } from '../src/api/uploads/form.ts';
import type { Answer } from '../codegen/operations.ts';
import type { Handler, Input, Context } from '../src/api/handler.ts';
import type { AccountWithLimits } from '../db/accounts/accounts.ts';
import type { Trx } from '../db/connection/database.ts';
import type { IdempotencyRecord } from '../db/sessions/idempotency.ts';
import type { UploadFields } from '../src/api/uploads/form.ts';

type Request = Input<'createTranscription'>;

/** The answer, the first time and at every repetition. */
interface Accepted {
  sessionId: string;
  jobId: string;
}

/** POST /transcriptions. Headers and form were checked, and the whole file was received. */
export const createTranscription: Handler<'createTranscription'> = async (request, ctx) => {
  const { principal, body, file, signal } = request;
  const repeated = await findRepeated(request, ctx);
  if (repeated !== undefined) return answer(repeated, true, ctx.config);
  if (file.path === undefined) throw unavailable('The first upload with this Idempotency-Key is forgotten by now.', 1);
  await refuseByForm(request, ctx);
  // At the same time: ffmpeg reads from memory what the disk is still writing.
  const account = { id: principal.account_id, maxAudioMs: principal.max_audio_ms };
  const [durationMs, heardChannels] = await Promise.all([
    ctx.measurements.measure(file.path, account, signal),
    body.channels === 'separate' ? ctx.measurements.channels(file.path, account.id, signal) : 1,
    file.flushed,
  ]);

  const fresh: Accepted = { sessionId: randomUUIDv7(), jobId: randomUUIDv7() };
  let accepted: Accepted;
  // The sweep removes what a failed put may leave. A store that is away would make the client wait once more.
  await ctx.audioStore.put(file.path, principal.account_id, fresh.sessionId);
  try {
    accepted = await inAccountTransaction(ctx.db, principal.account_id, (trx, account) =>
      accept(trx, account, request, ctx, fresh, { durationMs, heardChannels }),
    );
  } catch (error) {
    // The commit's outcome is unknown: keep the audio. The sweep removes it if no session needs it.
    if (!(error instanceof CommitOutcomeUnknown)) await discardAudio(ctx, principal.account_id, fresh.sessionId);
    throw error;
  }
  if (accepted !== fresh) await discardAudio(ctx, principal.account_id, fresh.sessionId);
  return answer(accepted, accepted !== fresh, ctx.config);
};

/** The answer does not depend on it: the sweep finds a file that could not be removed. */
async function discardAudio({ audioStore, log }: Context, accountId: string, sessionId: string): Promise<void> {
  await audioStore
    .remove(accountId, sessionId)
    .catch((error: unknown) => log.warn({ err: error }, 'audio not removed yet'));
}

/** The answer to an earlier upload with the same Idempotency-Key. Only key and form are compared. */
async function findRepeated({ headers, body, file, principal }: Request, ctx: Context): Promise<Accepted | undefined> {
  const record = await findIdempotencyRecord(ctx.db, principal.account_id, headers['idempotency-key']);
  return record && replay(record, fingerprintOf(file.sha256!, body));
}

/** Refuses what the form alone tells, before the file is looked at. */
async function refuseByForm(request: Request, ctx: Context): Promise<void> {
  const { body, principal } = request;
  const refusal = (await refusalOfLanguage(body, ctx)) ?? (await refusalOfHint(body, principal.account_id, ctx));
  // The first upload with this key may have reserved the balance a moment ago.
  if (refusal !== undefined && (await findRepeated(request, ctx)) === undefined) throw refusal;
}

async function refusalOfLanguage({ language }: UploadFields, { db }: Context): Promise<ApiError | undefined> {
  const known = language === undefined ? undefined : await findSharedLanguages(db);
  if (known === undefined || known.includes(primaryOf(canonicalTag(language!)!))) return undefined;
  const code = 'language_not_supported';
  const { message } = toSessionError({ error_code: code, known_languages: known.join(', ') })!;
  return new ApiError(422, code, message, { knownLanguages: known });
}

/** The form's `durationMs` is only used here. */
async function refusalOfHint(
  { durationMs }: UploadFields,
  accountId: string,
  { db }: Context,
): Promise<ApiError | undefined> {
  const account = durationMs === undefined ? undefined : await findQuota(db, accountId);
  if (account === undefined || availableMs(account) >= durationMs!) return undefined;
  return insufficientBalance(account, durationMs);
}

/** Stores session, reservation, idempotency record and job: all of them or none. */
async function accept(
  trx: Trx,
  account: AccountWithLimits | undefined,
  { principal, headers, body, file, traceparent }: Request,
  { queue }: Context,
  fresh: Accepted,
  { durationMs, heardChannels }: { durationMs: number | undefined; heardChannels: number },
): Promise<Accepted> {
  const accountId = principal.account_id;
  if (account === undefined || account.deleted_at !== null) throw unauthorized(true);

  const key = headers['idempotency-key'];
  if (key !== undefined) {
    const fingerprint = fingerprintOf(file.sha256!, body);
    const record = { fingerprint, session_id: fresh.sessionId, job_id: fresh.jobId };
    if (!(await insertIdempotencyRecord(trx, { ...record, account_id: accountId, key }))) {
      return replay(await findIdempotencyRecord(trx, accountId, key), fingerprint);
    }
  }

  if (!(await isKeyValid(trx, accountId, principal.key_id))) throw unauthorized(true);
  refuseIneligible({ eligible: account.eligible, suspended: account.suspended_at !== null });
  if (file.sizeBytes > account.max_upload_bytes) throw fileTooLarge(account.max_upload_bytes);
  refuseLongAudio(durationMs, account.max_audio_ms);
  refuseFullQueue(await countQueued(trx, accountId), account.queued_sessions);
  const reservedMs = reservationFor(account, durationMs ?? null);
  if (reservedMs === undefined) throw insufficientBalance(account, durationMs);

  const title = titleOf(body.title, file.originalName);
  const session = await insertQueuedSession(trx, {
    account_id: accountId,
    id: fresh.sessionId,
    job_id: fresh.jobId,
    queue_job_id: newJobId(),
    title,
    reference: body.reference,
    language: body.language && canonicalTag(body.language),
    speakers: body.speakers,
    keyterms: body.keyterms,
    duration_ms: durationMs ?? null,
    max_audio_ms: account.max_audio_ms,
    reserved_ms: reservedMs,
    audio_bytes: file.sizeBytes,
    attempts_left: maxAttempts,
    start_tag: nextStartTag(transcriptionQueue, account),
    delete_at: deleteAt(body.retentionDays ?? account.retention_days),
    separate_channels: body.channels === 'separate',
    heard_channels: heardChannels,
    traceparent,
  });
  const findable = await searchDocumentOf(trx, accountId, { title, language: null, segments: undefined });
  await indexSession(trx, { accountId, sessionId: session.id }, findable);
  await changeReserved(trx, accountId, reservedMs);
  await queue.enqueue(trx, account, session);
  return fresh;
}

/** @throws {ApiError} 422 `idempotency_key_reused` */
function replay(record: IdempotencyRecord | undefined, fingerprint: Buffer): Accepted {
  if (record === undefined || !record.fingerprint.equals(fingerprint)) {
    throw new ApiError(
      422,
      'idempotency_key_reused',
      'This Idempotency-Key was used for another file or another form.',
    );
  }
  return { sessionId: record.session_id, jobId: record.job_id };
}

type Answered = Answer<'createTranscription'>;

function answer(accepted: Accepted, isReplay: boolean, { publicPath }: Context['config']): Answered {
  return {
    status: 202,
    headers: {
      Location: `${publicPath}/v1/sessions/${accepted.sessionId}`,
      'Retry-After': pollAgainSeconds,
      ...(isReplay && { 'Idempotency-Replayed': true }),
    },
    body: { ...accepted, status: 'queued' },
  };
}

/** Fields that change nothing of what becomes of an upload. */
const hints = ['durationMs'];

/**
 * The hash by which a repeated upload is recognized: of the file's bytes and the fields of the form that change what
 * becomes of it, of which the file's name is none. When the contract gets a new field, forms without it keep their fingerprint.
 *
 * @param fileSha256 of the file's bytes
 * @returns a SHA-256
 */
export function fingerprintOf(fileSha256: Buffer, fields: UploadFields): Buffer {
  const hash = createHash('sha256').update(fileSha256);
  const named = Object.entries(fields)
    .filter(([name]) => !hints.includes(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  if (named.length > 0) hash.update(`\n${JSON.stringify(named)}`);
  return hash.digest();
}

const titleCharacters = 255;

/**
 * The title of a session.
 * @param title of the form; where nothing of it can be seen, the file's name counts
 * @param fileName without folder and extension it is the title; "Untitled" stands for none
 */
export function titleOf(title: string | undefined, fileName: string): string {
  if (title !== undefined && visible(title) !== '') return visible(title);
  const name = visible(fileName.split(/[/\\]/).pop()!)
    .replace(/\.[^.\s]{1,16}$/u, '')
    .trim();
  return /^\.*$/.test(name) ? 'Untitled' : [...name].slice(0, titleCharacters).join('').trim();
}

/** Without control characters, and without the invisible ones that turn the direction of the text around them. */
const visible = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .trim();
