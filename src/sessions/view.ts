/** A session row as the contract shows it. */
import { rfc3339 } from '../../db/connection/values.ts';
import { toWarnings } from './warnings.ts';
import type { Schema } from '../../codegen/operations.ts';
import type { FailureCode } from '../../db/schema.ts';
import type { ReadableSession } from '../../db/sessions/readable.ts';

export function toSession(row: ReadableSession): Schema<'Session'> {
  const { id, status, title, reference, created_at, started_at, completed_at } = row;
  const { duration_ms, charged_ms, language, progress, delete_at } = row;
  const session: Schema<'Session'> = { id, status, title, createdAt: rfc3339(created_at) };
  if (reference !== null) session.reference = reference;
  if (started_at !== null) session.startedAt = rfc3339(started_at);
  if (completed_at !== null) session.completedAt = rfc3339(completed_at);
  if (duration_ms !== null) session.durationMs = duration_ms;
  if (charged_ms !== null) session.chargedMs = charged_ms;
  if (language !== null) session.language = language;
  if (progress !== null) session.progress = progress;
  const error = toSessionError(row);
  if (error !== undefined) session.error = error;
  if (delete_at !== null) session.deleteAt = rfc3339(delete_at);
  const warnings = toWarnings(row);
  if (warnings !== undefined) session.warnings = warnings;
  if (row.separate_channels) session.channels = 'separate';
  return session;
}

/** Why a session failed; undefined when it did not. */
export function toSessionError({
  error_code: code,
  known_languages: known,
}: Pick<ReadableSession, 'error_code' | 'known_languages'>): Schema<'SessionError'> | undefined {
  if (code === null) return undefined;
  // A newer version of the service may have written a code that this one does not know.
  const message = messages[code] ?? 'The transcription failed.';
  return { code, message: known === null ? message : `${message} It knows: ${known}.` };
}

const messages: Record<FailureCode, string> = {
  unsupported_media: 'The audio could not be decoded.',
  no_audio_track: 'The file has no audio track.',
  audio_too_long: 'The audio is longer than the account may upload.',
  insufficient_balance: 'The audio turned out longer than the transcription balance covers.',
  audio_unreadable: 'The stored audio is damaged or gone. Upload it again.',
  recognizer_error: 'The audio could not be recognized.',
  language_not_supported: 'The recognizer does not know the language that was asked for.',
  timed_out: 'The transcription took too long.',
  canceled: 'The transcription was canceled.',
  too_many_channels: 'The audio has more than 8 channels, which is too many to transcribe separately.',
};

export const isFinal = (status: ReadableSession['status']): boolean => status === 'completed' || status === 'failed';

/** How many seconds a client should wait before it asks again about an unfinished session. */
export const pollAgainSeconds = 2;
