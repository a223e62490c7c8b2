/** A session row as the contract shows it. */
import { rfc3339 } from '../db/database.ts';
import type { Schema } from '../codegen/operations.ts';
import type { ReadableSession } from '../db/sessions.ts';

export function toSession(row: ReadableSession): Schema<'Session'> {
  return {
    id: row.id,
    status: row.status,
    title: row.title,
    createdAt: rfc3339(row.created_at),
    ...(row.started_at !== null && { startedAt: rfc3339(row.started_at) }),
    ...(row.completed_at !== null && { completedAt: rfc3339(row.completed_at) }),
    ...(row.duration_ms !== null && { durationMs: row.duration_ms }),
    ...(row.language !== null && { language: row.language }),
    ...(row.progress !== null && { progress: row.progress }),
    ...(row.error_code !== null && { error: toSessionError(row.error_code) }),
  };
}

export function toSessionError(code: string): Schema<'SessionError'> {
  return { code, message: messages[code] ?? 'The transcription failed.' };
}

const messages: Record<string, string> = {
  unsupported_media: 'The audio could not be decoded.',
  no_audio_track: 'The file has no audio track.',
  audio_too_long: 'The audio is longer than the account may upload.',
  insufficient_balance: 'The audio turned out longer than the transcription balance covers.',
  recognizer_error: 'The audio could not be recognized.',
  timed_out: 'The transcription took too long.',
  canceled: 'The transcription was canceled.',
};

export const isFinal = (status: ReadableSession['status']): boolean => status === 'completed' || status === 'failed';

/** How many seconds a client should wait before it asks again about an unfinished session. */
export const pollAgainSeconds = 2;
