/**
 * What support does to a session by hand. Each change is one transaction that holds the account's lock, and the result
 * says what happened.
 */
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { changeReserved, reservationFor } from '../../db/accounts/accounts.ts';
import { deleteIdempotencyRecords } from '../../db/sessions/idempotency.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { nextStartTag } from '../../db/sessions/start-tag.ts';
import { deleteSession, retryIfFailed } from '../../db/sessions/states.ts';
import { maxAttempts, newJobId, transcriptionQueue } from '../queue/jobs.ts';
import { failSession } from './completion.ts';
import { isFinal } from './view.ts';
import type { AccountWithLimits } from '../../db/accounts/accounts.ts';
import type { Db, Trx } from '../../db/connection/database.ts';
import type { SessionStatus } from '../../db/schema.ts';
import type { Session } from '../../db/sessions/sessions.ts';
import type { AppContext } from './app-context.ts';

/** Is called in the transaction of a change, at its end, unless nothing is changed: for support's log. */
export type Recorded = (trx: Trx) => Promise<void>;
const unrecorded: Recorded = async () => {};

/** The account has no such session, or it was deleted. */
interface Unknown {
  kind: 'unknown';
}

export type CancelOutcome = { kind: 'canceled' } | { kind: 'final'; status: SessionStatus } | Unknown;

/** Fails a session with `canceled`. It is not charged. A worker that runs it loses its claim. */
export function cancelSession(
  { db, queue }: Pick<AppContext, 'db' | 'queue'>,
  accountId: string,
  id: string,
  record = unrecorded,
): Promise<CancelOutcome> {
  return changeSession<CancelOutcome>(db, accountId, id, async (trx, session) => {
    if (!(await failSession(trx, accountId, id, 'canceled'))) return { kind: 'final', status: session.status };
    await queue.cancel(trx, session.queue_job_id);
    await record(trx);
    return { kind: 'canceled' };
  });
}

export type RetryOutcome =
  | { kind: 'queued' }
  | { kind: 'not_failed'; status: SessionStatus }
  | { kind: 'without_audio' }
  /** The account would not be allowed to upload this audio now. */
  | { kind: RetryRefusal; account: AccountWithLimits; durationMs: number | null }
  | Unknown;

type RetryRefusal = 'not_eligible' | 'suspended' | 'too_long' | 'not_covered';

/** Puts a failed session back to the queue. It gets a reservation and a job by the rules of a new upload. */
export async function retrySession(
  { db, queue, audioStore }: Pick<AppContext, 'db' | 'queue' | 'audioStore'>,
  accountId: string,
  id: string,
  record = unrecorded,
): Promise<RetryOutcome> {
  const hasFile = await audioStore.exists(accountId, id);
  return changeSession<RetryOutcome>(db, accountId, id, async (trx, session, account) => {
    const { status, duration_ms: durationMs } = session;
    if (status !== 'failed') return { kind: 'not_failed', status };
    if (!hasFile || session.audio_deleted_at !== null) return { kind: 'without_audio' };
    const reservation = retryReservation(account, durationMs);
    if (typeof reservation === 'string') return { kind: reservation, account, durationMs };
    const fresh = { queue_job_id: newJobId(), max_audio_ms: account.max_audio_ms, attempts_left: maxAttempts };
    const start_tag = nextStartTag(transcriptionQueue, account);
    const queued = await retryIfFailed(trx, account.id, id, { ...fresh, reserved_ms: reservation, start_tag });
    // The worker's sweep marks audio as removed without the account's lock.
    if (queued === undefined) return { kind: 'without_audio' };
    await changeReserved(trx, account.id, reservation);
    await queue.enqueue(trx, account, queued);
    await record(trx);
    return { kind: 'queued' };
  });
}

/** What a retried session reserves, in ms, or why it may not be retried. The rules are those of a new upload. */
function retryReservation(account: AccountWithLimits, durationMs: number | null): number | RetryRefusal {
  if (!account.eligible) return 'not_eligible';
  if (account.suspended_at !== null) return 'suspended';
  if (durationMs !== null && durationMs > account.max_audio_ms) return 'too_long';
  return reservationFor(account, durationMs) ?? 'not_covered';
}

export type EraseOutcome =
  | { kind: 'erased' }
  /** The rows are deleted, but the audio could not be removed. The worker's sweep removes it. */
  | { kind: 'audio_left'; error: Error }
  | Unknown;

/** Removes a session with its transcript, job, reservation and idempotency record, then its audio. */
export async function eraseSession(
  { db, queue, audioStore }: Pick<AppContext, 'db' | 'queue' | 'audioStore'>,
  accountId: string,
  id: string,
  record = unrecorded,
): Promise<EraseOutcome> {
  const erased = await changeSession<Session>(db, accountId, id, async (trx, session) => {
    if (!isFinal(session.status)) await queue.cancel(trx, session.queue_job_id);
    await deleteSession(trx, accountId, id);
    await changeReserved(trx, accountId, -session.reserved_ms);
    await deleteIdempotencyRecords(trx, accountId, id);
    await record(trx);
    return session;
  });
  if ('kind' in erased) return erased;
  return audioStore.remove(accountId, id).then(
    () => ({ kind: 'erased' }),
    (error: Error) => ({ kind: 'audio_left', error }),
  );
}

async function changeSession<T>(
  db: Db,
  accountId: string,
  id: string,
  work: (trx: Trx, session: Session, account: AccountWithLimits) => Promise<T>,
): Promise<T | Unknown> {
  return inAccountTransaction<T | Unknown>(db, accountId, async (trx, account) => {
    const session = await findSessionRow(trx, accountId, id);
    return account === undefined || session === undefined ? { kind: 'unknown' } : work(trx, session, account);
  });
}
