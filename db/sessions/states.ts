/**
 * Every change of a session's state; those of an attempt are in `attempts.ts`. The guard is in the name and in the
 * `where`; the answer says whether it happened.
 *
 *     queued ──claim──▶ processing ──complete──▶ completed
 *       ▲                  │   │
 *       ├──requeue/hand────┘   └──fail──▶ failed ──retry (support)──▶ queued
 *       └──fail (canceled, or no attempt left)──▶ failed
 *
 * The caller holds the account's lock wherever a reservation ends.
 */
import { sql } from 'kysely';
import type { InsertObject, RawBuilder } from 'kysely';
import type { Trx } from '../connection/database.ts';
import type { FailureCode, Schema } from '../schema.ts';
import type { Session } from './sessions.ts';

const now = sql<string>`now()`;
/** The channel of clients that wait for a session and of workers that should stop. The payload is the session's id. */
export const sessionChannel = 'session_final';

/** The columns of a session that an upload knows. */
export type NewSession = Omit<InsertObject<Schema, 'sessions'>, 'status' | 'measured_ms'>;

/** The columns from which a session's job is made. */
export const ofQueued = [
  ...(['id', 'queue_job_id', 'duration_ms', 'max_audio_ms'] as const),
  ...(['heard_channels', 'attempts_left', 'start_tag'] as const),
] as const;

/** A session that was just put into the queue and has no job there yet. */
export type QueuedSession = Pick<Session, (typeof ofQueued)[number]>;

export function insertQueuedSession(trx: Trx, session: NewSession): Promise<QueuedSession> {
  return trx
    .insertInto('sessions')
    .values({ ...session, status: 'queued', measured_ms: session.duration_ms })
    .returning(ofQueued)
    .executeTakeFirstOrThrow();
}

/** When a session is deleted that is kept for so many days of 24 hours; null: it is kept. */
export const deleteAt = (days: number | null) =>
  days === null ? null : sql<string>`now() + make_interval(hours => 24 * ${days}::int)`;

/**
 * Fails a session, whatever attempt runs. Answers what it had reserved; undefined when it was final already.
 * @param knownLanguages with `language_not_supported`: those that the recognizer knows, if it says so
 */
export async function failIfNotFinal(
  trx: Trx,
  accountId: string,
  id: string,
  code: FailureCode,
  knownLanguages?: readonly string[],
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
      known_languages: knownLanguages?.join(', ') ?? null,
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

/** Puts a failed session whose audio is still there back to the queue, for support. */
export function retryIfFailed(
  trx: Trx,
  accountId: string,
  id: string,
  fresh: Pick<NewSession, 'queue_job_id' | 'max_audio_ms' | 'reserved_ms' | 'attempts_left'> & {
    start_tag: RawBuilder<number>;
  },
): Promise<QueuedSession | undefined> {
  return trx
    .updateTable('sessions')
    .set({
      ...fresh,
      status: 'queued',
      infrastructure_retries: 0,
      started_at: null,
      completed_at: null,
      error_code: null,
      known_languages: null,
    })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('status', '=', 'failed')
    .where('audio_deleted_at', 'is', null)
    .returning(ofQueued)
    .executeTakeFirst();
}

/** Deletes a session and its transcript. */
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

/** Call it in the transaction that ends a session. Clients that wait look at the session after the commit. */
export async function notifyFinal(trx: Trx, id: string): Promise<void> {
  await sql`select pg_notify(${sessionChannel}, ${id})`.execute(trx);
}
