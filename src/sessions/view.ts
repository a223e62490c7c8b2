/** A session row as the contract shows it. */
import { rfc3339 } from '../../db/connection/values.ts';
import type { Schema } from '../../codegen/operations.ts';
import type { FailureCode } from '../../db/schema.ts';
import type { PublicSession } from '../../db/sessions/sessions.ts';
import type { Warning, WarningCode } from '../../db/sessions/warning.ts';

export function toSession(row: PublicSession): Schema<'Session'> {
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
}: Pick<PublicSession, 'error_code' | 'known_languages'>): Schema<'SessionError'> | undefined {
  if (code === null) return undefined;
  // A newer version of the service may have written a code that this one does not know.
  const message = failures[code] ?? 'The transcription failed.';
  return { code, message: known === null ? message : `${message} It knows: ${known}.` };
}

const failures: Record<FailureCode, string> = {
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

/** Stored warnings. @returns undefined when there are none */
export function toWarnings({
  warnings: stored,
}: Pick<PublicSession, 'warnings'>): Schema<'TranscriptWarning'>[] | undefined {
  if (stored === null) return undefined;
  // A newer version of the service may have written a code that this one does not know.
  return (JSON.parse(stored) as Warning[]).map(({ code, ...where }) => ({
    code,
    message: warnings[code] ?? unknownWarning,
    ...where,
  }));
}

const unknownWarning = 'Something about the recording makes its transcript less than it could be.';

const warnings: Record<WarningCode, string> = {
  truncated:
    'The file ends before its own header says, or goes on behind what could be heard. What is missing was not transcribed.',
  quiet: 'The recording is very quiet. It was made louder to be transcribed.',
  clipped: 'The recording is too loud for its format, and parts of it are distorted.',
  narrowband: 'The recording has the sound of a telephone, in which some words are hard to tell apart.',
  other_tracks_ignored: 'The file has several audio tracks, and one of them was transcribed.',
  speech_uncertain: 'Somebody speaks here, but the words are missing or may be wrong.',
};

export const isFinal = (status: PublicSession['status']): boolean => status === 'completed' || status === 'failed';

/** How many seconds a client should wait before it asks again about an unfinished session. */
export const pollAgainSeconds = 2;
