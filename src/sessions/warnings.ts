/** Stored warnings as the contract shows them. */
import type { Schema } from '../../codegen/operations.ts';
import type { Warning, WarningCode } from '../../db/sessions/warning.ts';
import type { ReadableSession } from '../../db/sessions/readable.ts';

/** @returns undefined when there are none */
export function toWarnings({ warnings }: Pick<ReadableSession, 'warnings'>): Schema<'TranscriptWarning'>[] | undefined {
  if (warnings === null) return undefined;
  const stored: Warning[] = JSON.parse(warnings);
  // A newer version of the service may have written a code that this one does not know.
  return stored.map(({ code, ...where }) => ({ code, message: messages[code] ?? unknownMessage, ...where }));
}

const unknownMessage = 'Something about the recording makes its transcript less than it could be.';

const messages: Record<WarningCode, string> = {
  truncated:
    'The file ends before its own header says, or goes on behind what could be heard. What is missing was not transcribed.',
  quiet: 'The recording is very quiet. It was made louder to be transcribed.',
  clipped: 'The recording is too loud for its format, and parts of it are distorted.',
  narrowband: 'The recording has the sound of a telephone, in which some words are hard to tell apart.',
  other_tracks_ignored: 'The file has several audio tracks, and one of them was transcribed.',
  speech_uncertain: 'Somebody speaks here, but the words are missing or may be wrong.',
};
