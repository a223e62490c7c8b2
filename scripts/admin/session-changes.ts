/** What support does to a session, each in one transaction that holds the account's lock. */
import { inAccountTransaction } from '../../db/account-transaction.ts';
import { changeReserved } from '../../db/accounts.ts';
import { deleteIdempotencyRecords } from '../../db/idempotency.ts';
import { findAccountOfSession, findSessionRow } from '../../db/sessions/sessions.ts';
import { deleteSession, retryIfFailed } from '../../db/sessions/states.ts';
import { maxAttempts, newJobId } from '../../src/queue/queue.ts';
import { failSession } from '../../src/sessions/endings.ts';
import { giveJob } from '../../src/sessions/job.ts';
import { isFinal } from '../../src/sessions/view.ts';
import { refuseLeftAudio } from './account-erasure.ts';
import { Refusal } from './refusal.ts';
import { retryReservation } from './retry-reservation.ts';
import type { AccountInForce } from '../../db/accounts.ts';
import type { Db, Queryable, Trx } from '../../db/database.ts';
import type { Session } from '../../db/sessions/sessions.ts';
import type { AdminContext } from './admin-context.ts';

/** @throws {Refusal} when there is none */
export async function getSession(db: Queryable, id: string): Promise<Session> {
  const accountId = await findAccountOfSession(db, id);
  const session = accountId === undefined ? undefined : await findSessionRow(db, accountId, id);
  return session ?? refuseUnknown(id);
}

/** Fails a session with `canceled`, uncharged; a worker that runs it loses its claim. */
export async function cancelSession(admin: AdminContext, id: string): Promise<void> {
  refuseFinal(await getSession(admin.db, id));
  const queue = await admin.queue();
  await changeSession(admin.db, id, async (trx, session) => {
    refuseFinal(session);
    await failSession(trx, session.account_id, id, 'canceled');
    await queue.cancel(trx, session.queue_job_id);
  });
}

/** Puts a failed session back to the queue, with a reservation and a job as a new upload gets them. */
export async function retrySession(admin: AdminContext, id: string): Promise<void> {
  const before = await getSession(admin.db, id);
  refuseUnlessFailed(before);
  if (!(await admin.audioStore.exists(before.account_id, id))) refuseWithoutAudio(id);
  const queue = await admin.queue();
  await changeSession(admin.db, id, async (trx, session, account) => {
    refuseUnlessFailed(session);
    const reservedMs = retryReservation(account, session.duration_ms);
    const fresh = { queueJobId: newJobId(), maxAudioMs: account.max_audio_ms, reservedMs, attempts: maxAttempts };
    const retried = (await retryIfFailed(trx, account.id, id, fresh)) ?? refuseWithoutAudio(id);
    await changeReserved(trx, account.id, reservedMs);
    await giveJob(trx, queue, account, retried);
  });
}

/** Removes a session with its transcript, job, reservation and idempotency record, then its audio. */
export async function eraseSession(admin: AdminContext, id: string): Promise<Session> {
  await getSession(admin.db, id);
  const queue = await admin.queue();
  const erased = await changeSession(admin.db, id, async (trx, session) => {
    if (!isFinal(session.status)) await queue.cancel(trx, session.queue_job_id);
    await deleteSession(trx, session.account_id, id);
    await changeReserved(trx, session.account_id, -session.reserved_ms);
    await deleteIdempotencyRecords(trx, session.account_id, id);
    return session;
  });
  await admin.audioStore.remove(erased.account_id, id).catch(refuseLeftAudio);
  return erased;
}

async function changeSession<T>(
  db: Db,
  id: string,
  work: (trx: Trx, session: Session, account: AccountInForce) => Promise<T>,
): Promise<T> {
  const accountId = (await findAccountOfSession(db, id)) ?? refuseUnknown(id);
  return inAccountTransaction(db, accountId, async (trx, account) => {
    const session = (await findSessionRow(trx, accountId, id)) ?? refuseUnknown(id);
    return work(trx, session, account ?? refuseUnknown(id));
  });
}

function refuseUnknown(id: string): never {
  throw new Refusal(`There is no session ${id}. "sessions list ACCOUNT" shows those of an account.`);
}

function refuseFinal({ id, status }: Session): void {
  if (isFinal(status))
    throw new Refusal(`Session ${id} is ${status} already: only queued and processing ones can be canceled.`);
}

function refuseUnlessFailed({ id, status, audio_deleted_at }: Session): void {
  if (status !== 'failed') throw new Refusal(`Session ${id} is ${status}: only failed ones can be retried.`);
  if (audio_deleted_at !== null) refuseWithoutAudio(id);
}

function refuseWithoutAudio(id: string): never {
  throw new Refusal(`The audio of session ${id} is not there any more: the file has to be uploaded again.`);
}
