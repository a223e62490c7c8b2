/** A session as support sees it: its title, never its text. */
import { rfc3339 } from '../../db/connection/values.ts';
import { toSessionError } from '../../src/sessions/view.ts';
import { toWarnings } from '../../src/sessions/warnings.ts';
import { formatDuration } from './durations.ts';
import { details, momentOf } from '../terminal/table.ts';
import type { ReadableSession } from '../../db/sessions/readable.ts';
import type { Session } from '../../db/sessions/sessions.ts';

export function listedSessionJson(accountId: string, session: ReadableSession) {
  return {
    id: session.id,
    accountId,
    status: session.status,
    title: session.title,
    createdAt: rfc3339(session.created_at),
    ...(session.started_at !== null && { startedAt: rfc3339(session.started_at) }),
    ...(session.completed_at !== null && { completedAt: rfc3339(session.completed_at) }),
    ...(session.duration_ms !== null && { durationMs: session.duration_ms }),
    ...(session.language !== null && { language: session.language }),
    ...(session.progress !== null && { progress: session.progress }),
    ...(session.error_code !== null && { errorCode: session.error_code }),
  };
}

export function sessionJson(session: Session) {
  return {
    ...listedSessionJson(session.account_id, session),
    jobId: session.job_id,
    reservedMs: session.reserved_ms,
    attempt: session.attempt,
    attemptsLeft: session.attempts_left,
    freeAttempts: session.free_attempts,
    ...(session.last_error_code !== null && { lastErrorCode: session.last_error_code }),
    ...(session.warnings !== null && { warnings: toWarnings(session) }),
    ...(session.audio_deleted_at !== null && { audioDeletedAt: rfc3339(session.audio_deleted_at) }),
  };
}

export function sessionText(session: Session): string {
  const error = toSessionError(session);
  return details({
    Session: session.id,
    Account: session.account_id,
    Title: session.title,
    Status: session.status,
    Error: error && `${error.code}: ${error.message}`,
    Progress: session.progress === null ? undefined : `${session.progress} %`,
    Duration: session.duration_ms === null ? 'not measured' : formatDuration(session.duration_ms),
    Reserved: formatDuration(session.reserved_ms),
    Language: session.language ?? undefined,
    Warnings: toWarnings(session)
      ?.map(({ code }) => code)
      .filter(isFirst)
      .join(', '),
    Attempts: attemptsOf(session),
    Audio: momentOf(session.audio_deleted_at)?.replace(/^/, 'removed ') ?? 'kept',
    Created: momentOf(session.created_at),
    Started: momentOf(session.started_at),
    Ended: momentOf(session.completed_at),
  });
}

const isFirst = <T>(item: T, index: number, list: readonly T[]): boolean => list.indexOf(item) === index;

function attemptsOf({ status, attempt, attempts_left, free_attempts, last_error_code }: Session): string {
  const left = status === 'queued' || status === 'processing' ? `, ${attempts_left} left` : '';
  const free = free_attempts === 0 ? '' : `, ${free_attempts} of them free`;
  return `${attempt}${free}${left}${last_error_code === null ? '' : ` (the last one: ${last_error_code})`}`;
}
