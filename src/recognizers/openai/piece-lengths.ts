/** How long the pieces of a recording are that a server gets. */
import { totalMs } from '../../audio/spans.ts';
import type { PieceLengths } from '../../audio/pieces.ts';
import type { DecodedAudio } from '../recognizer.ts';
import type { AnswerFormat } from './client.ts';

/** Whisper hears 30 s at a time: with the overlap at both ends, one such time. */
export const shortMs = 28_000;
/** Whisper takes a third more work for short pieces, so they are longer where nothing is gained by short ones. */
const longMs = 120_000;
/** A piece ends at a pause, so on average after this part of its longest. */
const usualPart = 0.8;

export interface Circumstances {
  /** What is spoken; undefined: the server finds out. */
  language: string | undefined;
  /** How many more pieces the server hears at once. */
  free: number;
}

/**
 * A server finds one language for each piece, and what is said in another one is lost. So where nobody says which language it
 * is, pieces are short. They are also short while the server has room for more of them.
 */
export function pieceLengths(
  format: AnswerFormat,
  { speech, durationMs }: Pick<DecodedAudio, 'speech' | 'durationMs'>,
  { language, free }: Circumstances,
): PieceLengths {
  // Speakers are told apart best within a piece, so a piece is as long as servers allow: 25 MB, and 10 minutes at vLLM.
  if (format === 'diarized_json') return { longestMs: 590_000, overlapMs: 0, longestPauseMs: Infinity };
  // An answer without times gets the times of its piece.
  if (format !== 'verbose_json') return { longestMs: shortMs, overlapMs: 0 };
  const speechMs = speech === undefined ? durationMs : totalMs(speech);
  const enoughMs = speechMs / Math.max(1, free) / usualPart;
  const longestMs = language === undefined ? shortMs : Math.min(longMs, Math.max(shortMs, Math.ceil(enoughMs)));
  return { longestMs, overlapMs: 1_000 };
}
