/**
 * Every change of a session's state. The guard is in the name and in the `where`; the answer says whether it happened.
 *
 *     queued ──claim──▶ processing ──complete──▶ completed
 *       ▲                  │   │
 *       └──requeue/hand────┘   └──fail──▶ failed ──retry (support)──▶ queued
 *
 * The caller holds the account's lock wherever a reservation ends.
 */
import { sql } from 'kysely';
import type { Queryable, Trx } from './database.ts';
import type { Session } from './sessions.ts';

const now = sql<string>`now()`;
/** Clients that wait for a session, and workers that should stop, listen here; the payload is the session's id. */
export const sessionChannel = 'session_final';

export interface NewSession {
  accountId: string;
  id: string;
  jobId: string;
  queueJobId: string;
  title: string;
  /** Measured at the upload, when it could be measured. */
  durationMs: number | undefined;
  reservedMs: number;
  attempts: number;
}

export async function insertQueuedSession(trx: Trx, session: NewSession): Promise<void> {
  await trx
    .insertInto('sessions')
    .values({
      account_id: session.accountId,
      id: session.id,
      job_id: session.jobId,
      queue_job_id: session.queueJobId,
      status: 'queued',
      title: session.title,
      duration_ms: session.durationMs ?? null,
      reserved_ms: session.reservedMs,
      attempts_left: session.attempts,
    })
    .execute();
}

export interface Claim {
  attempt: number;
  duration_ms: number | null;
  reserved_ms: number;
}

/** Takes a session for one attempt of its own job. Undefined when it is final, or the job is not its job any more. */
export function claimIfNotFinal(
  db: Queryable,
  accountId: string,
  id: string,
  queueJobId: string,
): Promise<Claim | undefined> {
  return db
    .updateTable('sessions')
    .set((eb) => ({
      status: 'processing',
      started_at: now,
      progress: null,
      attempt: eb('attempt', '+', 1),
      attempts_left: eb('attempts_left', '-', 1),
    }))
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('queue_job_id', '=', queueJobId)
    .where('status', 'in', ['queued', 'processing'])
    .where('attempts_left', '>', 0)
    .returning(['attempt', 'duration_ms', 'reserved_ms'])
    .executeTakeFirst();
}

/** One attempt at a session: its number is the fence that keeps a worker which lost its claim from writing. */
export interface Attempt {
  accountId: string;
  sessionId: string;
  attempt: number;
}

function ifProcessing(trx: Queryable, { accountId, sessionId, attempt }: Attempt) {
  return trx
    .updateTable('sessions')
    .where('account_id', '=', accountId)
    .where('id', '=', sessionId)
    .where('status', '=', 'processing')
    .where('attempt', '=', attempt);
}

/** @param percent 0 to 100 */
export async function reportProgressIfProcessing(db: Queryable, attempt: Attempt, percent: number): Promise<void> {
  await ifProcessing(db, attempt).set({ progress: percent }).execute();
}

/** Sets what the session reserves; the caller changes the account's sum by the difference. */
export async function setReservationIfProcessing(trx: Trx, attempt: Attempt, reservedMs: number): Promise<boolean> {
  const result = await ifProcessing(trx, attempt).set({ reserved_ms: reservedMs }).executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Ends a session with its transcript, and its reservation with it. */
export async function completeIfProcessing(
  trx: Trx,
  attempt: Attempt,
  result: { durationMs: number; language: string | undefined; transcriptVersion: string },
): Promise<boolean> {
  const { numUpdatedRows } = await ifProcessing(trx, attempt)
    .set({
      status: 'completed',
      completed_at: now,
      duration_ms: result.durationMs,
      language: result.language ?? null,
      transcript_version: result.transcriptVersion,
      progress: null,
      reserved_ms: 0,
      last_error_code: null,
    })
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await notifyFinal(trx, attempt.sessionId);
  return true;
}

/** Ends a session without a transcript, whatever attempt runs. Answers what it had reserved, undefined when it was final. */
export async function failIfNotFinal(
  trx: Trx,
  accountId: string,
  id: string,
  code: string,
): Promise<{ reservedMs: number } | undefined> {
  const session = await trx
    .selectFrom('sessions')
    .select('reserved_ms')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('status', 'in', ['queued', 'processing'])
    .forUpdate()
    .executeTakeFirst();
  if (session === undefined) return undefined;
  await trx
    .updateTable('sessions')
    .set({
      status: 'failed',
      completed_at: now,
      error_code: code,
      progress: null,
      reserved_ms: 0,
      last_error_code: null,
    })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .execute();
  await notifyFinal(trx, id);
  return { reservedMs: session.reserved_ms };
}

/** Back to the queue after an attempt failed; the same job tries again later. */
export async function requeueIfProcessing(db: Queryable, attempt: Attempt, errorCode: string): Promise<boolean> {
  const result = await ifProcessing(db, attempt)
    .set({ status: 'queued', progress: null, last_error_code: errorCode })
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Back to the queue as if the attempt had not been: a worker that stops gives the session to a successor job. */
export async function handBackIfProcessing(
  trx: Trx,
  attempt: Attempt,
  successorJobId: string,
): Promise<{ attemptsLeft: number } | undefined> {
  const row = await ifProcessing(trx, attempt)
    .set((eb) => ({
      status: 'queued',
      progress: null,
      queue_job_id: successorJobId,
      attempts_left: eb('attempts_left', '+', 1),
    }))
    .returning('attempts_left')
    .executeTakeFirst();
  return row && { attemptsLeft: row.attempts_left };
}

/** Puts another job in the place of a lost one; answers what that job has to know. */
export function replaceJobIfNotFinal(
  trx: Trx,
  accountId: string,
  id: string,
  lostJobId: string,
  jobId: string,
): Promise<Pick<Session, 'attempts_left' | 'duration_ms' | 'last_error_code'> | undefined> {
  return trx
    .updateTable('sessions')
    .set({ status: 'queued', progress: null, queue_job_id: jobId })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('queue_job_id', '=', lostJobId)
    .where('status', 'in', ['queued', 'processing'])
    .returning(['attempts_left', 'duration_ms', 'last_error_code'])
    .executeTakeFirst();
}

/** Support's second chance for a failed session whose audio is still there. */
export async function retryIfFailed(
  trx: Trx,
  accountId: string,
  id: string,
  fresh: { queueJobId: string; reservedMs: number; attempts: number },
): Promise<boolean> {
  const result = await trx
    .updateTable('sessions')
    .set({
      status: 'queued',
      queue_job_id: fresh.queueJobId,
      reserved_ms: fresh.reservedMs,
      attempts_left: fresh.attempts,
      started_at: null,
      completed_at: null,
      error_code: null,
    })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('status', '=', 'failed')
    .where('audio_deleted_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Removes a session and, with it, its transcript. */
export async function deleteSession(
  trx: Trx,
  accountId: string,
  id: string,
): Promise<{ reservedMs: number } | undefined> {
  const row = await trx
    .deleteFrom('sessions')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .returning('reserved_ms')
    .executeTakeFirst();
  if (row === undefined) return undefined;
  await notifyFinal(trx, id);
  return { reservedMs: row.reserved_ms };
}

async function notifyFinal(trx: Trx, id: string): Promise<void> {
  await sql`select pg_notify(${sessionChannel}, ${id})`.execute(trx);
}
