/** Sessions in every state, made by the same functions as uploads and workers use. */
import { randomUUIDv7 } from 'node:crypto';
import { sql } from 'kysely';
import { inAccountTransaction } from '../../../db/accounts/account-transaction.ts';
import { changeReserved } from '../../../db/accounts/accounts.ts';
import { claimIfNotFinal, reportProgressIfProcessing } from '../../../db/sessions/attempts.ts';
import { deleteAt, insertQueuedSession } from '../../../db/sessions/states.ts';
import { findSessionRow } from '../../../db/sessions/sessions.ts';
import { completeSession, failSession } from '../../../src/sessions/completion.ts';
import { toStoredTranscript } from '../../../src/worker/transcription.ts';
import { indexSession } from '../../../db/search/passages.ts';
import { searchDocumentOf } from '../../../src/search/passages.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { FailureCode } from '../../../db/schema.ts';
import type { Attempt } from '../../../db/sessions/attempts.ts';
import type { Segment } from '../../../src/captions/segment.ts';
import type { StoredTranscript } from '../../../src/sessions/completion.ts';

export interface TestSession {
  accountId: string;
  id: string;
  jobId: string;
  queueJobId: string;
  reservedMs: number;
}

interface NewTestSession {
  title?: string;
  reference?: string;
  language?: string;
  durationMs?: number | null;
  reservedMs?: number;
  attempts?: number;
  retentionDays?: number | null;
  /** RFC 3339; now when it is missing. */
  createdAt?: string;
}

/** Two segments of three words, as stored. */
export const twoSegments = stored([
  {
    ...{ index: 0, startMs: 120, endMs: 3_480, text: 'good morning', confidence: 0.91 },
    words: [
      { startMs: 120, endMs: 400, text: 'good', confidence: 0.93 },
      { startMs: 410, endMs: 3_480, text: 'morning', confidence: 0.89 },
    ],
  },
  {
    ...{ index: 1, startMs: 3_900, endMs: 6_950, text: 'begin', confidence: 0.88 },
    words: [{ startMs: 3_900, endMs: 6_950, text: 'begin', confidence: 0.88 }],
  },
]);

/** What a recording without speech leaves. */
export const silence = stored([]);

function stored(segments: Segment[]): StoredTranscript {
  return toStoredTranscript({ segments, language: 'en-US' }, 7_100);
}

/** A queued session with its reservation, without a job and without audio. */
export async function queueSession(
  db: Db,
  accountId: string,
  {
    title = 'Board meeting',
    reference,
    language,
    durationMs = null,
    reservedMs = 0,
    attempts = 3,
    retentionDays = null,
    createdAt,
  }: NewTestSession = {},
): Promise<TestSession> {
  const session = { accountId, id: randomUUIDv7(), jobId: randomUUIDv7(), queueJobId: randomUUIDv7(), reservedMs };
  await inAccountTransaction(db, accountId, async (trx) => {
    await insertQueuedSession(trx, {
      ...{ account_id: accountId, id: session.id, job_id: session.jobId, queue_job_id: session.queueJobId },
      ...{ title, reference, language, duration_ms: durationMs, max_audio_ms: 14_400_000, reserved_ms: reservedMs },
      attempts_left: attempts,
      delete_at: deleteAt(retentionDays),
    });
    const findable = await searchDocumentOf(trx, accountId, { title, language: null, segments: undefined });
    await indexSession(trx, { accountId, sessionId: session.id }, findable);
    await changeReserved(trx, accountId, reservedMs);
  });
  if (createdAt !== undefined)
    await sql`with moved as (update sessions set created_at = ${createdAt} where id = ${session.id})
      update passages set created_at = ${createdAt} where session_id = ${session.id}`.execute(db);
  return session;
}

/** @param progress percent, reported when given */
export async function claimSession(db: Db, session: TestSession, progress?: number): Promise<Attempt> {
  const { accountId, id, queueJobId } = session;
  const claim = await claimIfNotFinal(db, accountId, id, queueJobId);
  if (claim === undefined) throw new Error('the session can not be claimed');
  const attempt = { accountId, sessionId: id, attempt: claim.attempt };
  if (progress !== undefined) await reportProgressIfProcessing(db, new Map([[attempt, progress]]));
  return attempt;
}

export async function finishSession(
  db: Db,
  session: TestSession,
  attempt: Attempt,
  transcript = twoSegments,
): Promise<void> {
  const { accountId, id, reservedMs } = session;
  const { title } = (await findSessionRow(db, accountId, id))!;
  const { language = null, segments } = transcript;
  const findable = await searchDocumentOf(db, accountId, { title, language, segments });
  const done = await inAccountTransaction(db, accountId, async (trx) => {
    const isCompleted = await completeSession(trx, attempt, reservedMs, transcript);
    if (isCompleted) await indexSession(trx, attempt, findable);
    return isCompleted;
  });
  if (!done) throw new Error('the session can not be completed');
}

/** A session in the state that is asked for. */
export async function makeSession(
  db: Db,
  accountId: string,
  {
    status = 'queued',
    progress,
    transcript,
    errorCode = 'unsupported_media',
    ...session
  }: NewTestSession & {
    status?: 'queued' | 'processing' | 'completed' | 'failed';
    progress?: number;
    transcript?: StoredTranscript;
    errorCode?: FailureCode;
  } = {},
): Promise<TestSession> {
  const made = await queueSession(db, accountId, session);
  if (status === 'queued') return made;
  const attempt = await claimSession(db, made, progress);
  if (status === 'completed') await finishSession(db, made, attempt, transcript);
  if (status === 'failed') {
    await inAccountTransaction(db, accountId, (trx) => failSession(trx, accountId, made.id, errorCode));
    // It never had any.
    await db
      .updateTable('sessions')
      .set({ audio_deleted_at: new Date().toISOString() })
      .where('id', '=', made.id)
      .execute();
  }
  return made;
}
