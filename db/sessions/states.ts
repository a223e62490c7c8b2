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
import type { RawBuilder } from 'kysely';
import type { Trx } from '../connection/database.ts';
import type { FailureCode } from '../schema.ts';
import type { Session } from './sessions.ts';

const now = sql<string>`now()`;
/** The channel of clients that wait for a session and of workers that should stop. The payload is the session's id. */
export const sessionChannel = 'session_final';

export interface NewSession {
  accountId: string;
  id: string;
  jobId: string;
  queueJobId: string;
  title: string;
  /** The client's own name for it. */
  reference?: string | undefined;
  /** What the upload says of its recording. */
  language?: string | undefined;
  speakers?: number | undefined;
  keyterms?: readonly string[] | undefined;
  /** Measured at the upload, when it could be measured. */
  durationMs: number | undefined;
  /**
   * The longest audio that the account could upload at that time. A later, lower limit does not refuse what was
   * accepted.
   */
  maxAudioMs: number;
  reservedMs: number;
  /** Of the uploaded file. */
  audioBytes?: number | undefined;
  attempts: number;
  /** From `nextStartTag`. Undefined: it goes before all others. */
  startTag?: RawBuilder<number>;
  /** After so many days of 24 hours it is deleted. Undefined: it is kept. */
  retentionDays?: number | undefined;
  /** Each channel is recognized for itself. */
  separateChannels?: boolean;
  /** How many channels are heard one by one. */
  heardChannels?: number;
  /** W3C Trace Context: the trace to which the session's attempts belong. */
  traceparent?: string | undefined;
}

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
    .values({
      account_id: session.accountId,
      id: session.id,
      job_id: session.jobId,
      queue_job_id: session.queueJobId,
      status: 'queued',
      title: session.title,
      reference: session.reference ?? null,
      language: session.language ?? null,
      speakers: session.speakers ?? null,
      keyterms: session.keyterms === undefined ? null : [...session.keyterms],
      duration_ms: session.durationMs ?? null,
      measured_ms: session.durationMs ?? null,
      max_audio_ms: session.maxAudioMs,
      reserved_ms: session.reservedMs,
      audio_bytes: session.audioBytes ?? null,
      attempts_left: session.attempts,
      start_tag: session.startTag ?? 0,
      delete_at: deleteAt(session.retentionDays),
      separate_channels: session.separateChannels ?? false,
      heard_channels: session.heardChannels ?? 1,
      traceparent: session.traceparent ?? null,
    })
    .returning(ofQueued)
    .executeTakeFirstOrThrow();
}

const deleteAt = (days: number | undefined) =>
  days === undefined ? null : sql<string>`now() + make_interval(hours => 24 * ${days}::int)`;

/**
 * Fails a session, whatever attempt runs. Answers what it had reserved; undefined when it was final already.
 * @param knownLanguages with `language_not_supported`: those that the recognizer knows, if it tells
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
  fresh: Pick<NewSession, 'queueJobId' | 'maxAudioMs' | 'reservedMs' | 'attempts' | 'startTag'>,
): Promise<QueuedSession | undefined> {
  return trx
    .updateTable('sessions')
    .set({
      status: 'queued',
      queue_job_id: fresh.queueJobId,
      max_audio_ms: fresh.maxAudioMs,
      reserved_ms: fresh.reservedMs,
      attempts_left: fresh.attempts,
      start_tag: fresh.startTag ?? 0,
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
