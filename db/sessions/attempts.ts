/**
 * What an attempt may do to its session. Each change compares the number of the attempt, so a worker that lost its
 * claim changes nothing.
 */
import { sql } from 'kysely';
import { notifyFinal, ofQueued } from './states.ts';
import type { Updateable } from 'kysely';
import type { Queryable, Trx } from '../connection/database.ts';
import type { FailureCode, SessionTable } from '../schema.ts';
import type { Session } from './sessions.ts';
import type { QueuedSession } from './states.ts';

const now = sql<string>`now()`;

/**
 * Attempts that are given back although the recording itself may be why they ended: their worker was gone, a program ran out
 * of memory, or the recognizer's server had crashed. After so many of them, the attempts of the session count.
 */
export const maxInfrastructureRetries = 5;

/**
 * 1 where the session is still in the hands of an attempt although its job is given away: nobody recorded its end, since
 * its worker was killed, cut off or frozen. 0 otherwise, and when no free attempt is left.
 */
const isLost = sql<number>`(status = 'processing' and infrastructure_retries < ${sql.lit(maxInfrastructureRetries)})::int`;

/** For `set`: gives back the attempt that was lost, if one was. */
const lostGivenBack = {
  attempts_left: sql<number>`attempts_left + ${isLost}`,
  infrastructure_retries: sql<number>`infrastructure_retries + ${isLost}`,
};

const ofClaim = [
  'attempt',
  'infrastructure_retries',
  'title',
  'max_audio_ms',
  'reserved_ms',
  'audio_bytes',
  'measured_ms',
  'separate_channels',
  'language',
  'speakers',
  'keyterms',
  'traceparent',
] as const;

/** What an attempt has to know of its session. */
export type Claim = Pick<Session, (typeof ofClaim)[number]> & { seconds_since_upload: number };

/**
 * Claims a session for one attempt of its own job. Where the attempt before it was lost, this one takes its place.
 * @returns undefined when the session is final, belongs to another job, or has no attempt left
 */
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
      ...lostGivenBack,
      attempts_left: eb(lostGivenBack.attempts_left, '-', 1),
    }))
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('queue_job_id', '=', queueJobId)
    .where('status', 'in', ['queued', 'processing'])
    .where(lostGivenBack.attempts_left, '>', 0)
    .returning([...ofClaim, sql<number>`extract(epoch from now() - created_at)::float8`.as('seconds_since_upload')])
    .executeTakeFirst();
}

/** One attempt at a session. Its number keeps a worker that lost its claim from changing the session. */
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

/**
 * Writes how far many attempts are. A session that is just being changed is left out: the statement takes no lock wait, and
 * nobody waits for it in a circle.
 * @param percents 0 to 100
 */
export async function reportProgressIfProcessing(db: Queryable, percents: ReadonlyMap<Attempt, number>): Promise<void> {
  const attempts = [...percents.keys()];
  await sql`
    update sessions s set progress = mine.progress
    from (
      select account_id, id, r.progress
      from unnest(
        ${attempts.map(({ accountId }) => accountId)}::uuid[], ${attempts.map(({ sessionId }) => sessionId)}::uuid[],
        ${attempts.map(({ attempt }) => attempt)}::int[], ${[...percents.values()]}::int[]
      ) as r (account_id, id, attempt, progress)
      join sessions using (account_id, id, attempt)
      where status = 'processing'
      for no key update of sessions skip locked
    ) as mine
    where s.account_id = mine.account_id and s.id = mine.id`.execute(db);
}

/** Sets what the session reserves. The caller changes the account's sum by the difference. */
export async function setReservationIfProcessing(trx: Trx, attempt: Attempt, reservedMs: number): Promise<boolean> {
  const result = await ifProcessing(trx, attempt).set({ reserved_ms: reservedMs }).executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Notes for the auditor that the audio itself is shorter than measured. */
export async function confirmShortIfProcessing(db: Queryable, attempt: Attempt): Promise<void> {
  await ifProcessing(db, attempt).set({ confirmed_short: true }).execute();
}

export type Completion = Required<
  Pick<Updateable<SessionTable>, 'duration_ms' | 'charged_ms' | 'language' | 'warnings' | 'transcript_version'>
>;

/** Completes a session and ends its reservation. */
export async function completeIfProcessing(trx: Trx, attempt: Attempt, result: Completion): Promise<boolean> {
  const { numUpdatedRows } = await ifProcessing(trx, attempt)
    .set({ ...result, status: 'completed', completed_at: now, progress: null, reserved_ms: 0, last_error_code: null })
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await notifyFinal(trx, attempt.sessionId);
  return true;
}

/** What an attempt has cost its session. */
export interface Spent {
  attempts: number;
  /** Of the few that are given back although the recording may be why they ended. */
  infrastructureRetries: number;
  errorCode?: FailureCode;
}

/** Puts the session back to the queue, where it waits with another job for its next attempt. */
export function requeueIfProcessing(
  trx: Trx,
  attempt: Attempt,
  successorJobId: string,
  spent: Spent,
): Promise<QueuedSession | undefined> {
  return ifProcessing(trx, attempt)
    .set((eb) => ({
      status: 'queued',
      progress: null,
      queue_job_id: successorJobId,
      attempts_left: eb('attempts_left', '+', 1 - spent.attempts),
      infrastructure_retries: eb('infrastructure_retries', '+', spent.infrastructureRetries),
      ...(spent.errorCode && { last_error_code: spent.errorCode }),
    }))
    .returning(ofQueued)
    .executeTakeFirst();
}

/** Replaces a lost job by another one. Answers, among others, why the last attempt failed. */
export function replaceJobIfNotFinal(
  trx: Trx,
  accountId: string,
  id: string,
  lostJobId: string,
  jobId: string,
): Promise<(QueuedSession & Pick<Session, 'last_error_code'>) | undefined> {
  return trx
    .updateTable('sessions')
    .set({ status: 'queued', progress: null, queue_job_id: jobId, ...lostGivenBack })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('queue_job_id', '=', lostJobId)
    .where('status', 'in', ['queued', 'processing'])
    .returning([...ofQueued, 'last_error_code'])
    .executeTakeFirst();
}
