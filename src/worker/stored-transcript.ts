import { versionOf } from '../../db/sessions/transcripts.ts';
import type { Warning } from '../../db/sessions/warning.ts';
import type { Transcript } from '../recognizers/recognizer.ts';
import type { StoredTranscript } from '../sessions/endings.ts';

/**
 * A transcript in the form in which it is stored: segments as the API answers them, their words apart, and a hash of
 * both for the ETag.
 */
export function toStoredTranscript(
  transcript: Transcript,
  durationMs: number,
  warnings: readonly Warning[] = [],
): StoredTranscript {
  const segments = JSON.stringify(transcript.segments.map(({ words: _words, ...segment }) => segment));
  const words = JSON.stringify(transcript.segments.map((segment) => segment.words));
  const version = versionOf(durationMs, segments, words);
  const { language } = transcript;
  return { durationMs, language, warnings, segments, words, hasSpeech: transcript.segments.length > 0, version };
}
