/** What was said: words, and segments as clients get them. */
import type { WrittenWord } from './lines.ts';

/** Times are ms from the start of the audio. */
export interface Word {
  startMs: number;
  endMs: number;
  text: string;
  /** 0 to 1, only where the recognizer gives it. */
  confidence?: number;
}

/** A word, or a longer text, with who said it (`S1`, `S2`, …) where the recognizer knows. */
export interface SpokenWord extends Word, WrittenWord {
  speaker?: string;
}

/** A stretch of speech that can be read as one caption. */
export interface Segment extends Word {
  /** Position in the transcript, from 0. */
  index: number;
  /** `S1`, `S2`, …, only where the recognizer tells speakers apart. */
  speaker?: string;
  /** Where it was said, from 1, only where channels are recognized separately. */
  channel?: number;
  words: Word[];
}
