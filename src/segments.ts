import type { Segment, Word } from './recognizers/recognizer.ts';

/** A caption that stays longer, or holds more, can't be read comfortably (decisions, section 2). */
const longestMs = 10_000;
const mostWords = 20;

/** Chosen, not measured: about a breath between sentences. */
const pauseMs = 600;

/** Beyond this many words, a shorter pause is a better place to cut than the twentieth word. */
const enoughWords = 10;
const shortPauseMs = 200;

/**
 * Cuts words into segments that can be read as captions: at the ends of utterances, at pauses, and at the latest after
 * 10 s or 20 words.
 * @param utterances words with times in ms, by utterance, in any order
 * @param durationMs length of the audio; times are clamped to it
 * @returns sorted, numbered from 0, with integer times `0 ≤ startMs ≤ endMs ≤ durationMs` and text that isn't empty.
 *   Confidence is the mean of the words that have one, with 4 decimals.
 */
export function segmentsFromUtterances(utterances: readonly (readonly Word[])[], durationMs: number): Segment[] {
  const sorted = utterances
    .map((words) => usableWords(words, durationMs))
    .filter((words) => words.length > 0)
    .sort((a, b) => a[0]!.startMs - b[0]!.startMs);
  return withoutOverlaps(sorted).flatMap(cutIntoCaptions).map(toSegment);
}

function usableWords(words: readonly Word[], durationMs: number): Word[] {
  const inBounds = (ms: number): number => Math.min(durationMs, Math.max(0, Math.round(ms)));
  return words
    .map((word) => ({ ...word, text: word.text.trim(), startMs: inBounds(word.startMs), endMs: inBounds(word.endMs) }))
    .filter((word) => word.text !== '')
    .sort((a, b) => a.startMs - b.startMs);
}

/** Overlapping words would make overlapping captions, which players put on top of each other. */
function withoutOverlaps(utterances: readonly Word[][]): Word[][] {
  let earliest = 0;
  return utterances.map((words) =>
    words.map((word) => {
      const startMs = Math.max(word.startMs, earliest);
      earliest = Math.max(word.endMs, startMs);
      return { ...word, startMs, endMs: earliest, ...roundedConfidence(word.confidence) };
    }),
  );
}

function cutIntoCaptions(words: Word[]): Word[][] {
  const captions: Word[][] = [];
  let caption: Word[] = [];
  for (const word of words) {
    if (caption.length > 0 && startsNewCaption(caption, word)) {
      captions.push(caption);
      caption = [];
    }
    caption.push(word);
  }
  if (caption.length > 0) captions.push(caption);
  return captions;
}

function startsNewCaption(caption: readonly Word[], next: Word): boolean {
  const silenceMs = next.startMs - caption.at(-1)!.endMs;
  if (silenceMs >= pauseMs || (caption.length >= enoughWords && silenceMs >= shortPauseMs)) return true;
  return caption.length >= mostWords || next.endMs - caption[0]!.startMs > longestMs;
}

function toSegment(words: Word[], index: number): Segment {
  const confidences = words.flatMap((word) => word.confidence ?? []);
  const mean = confidences.reduce((sum, confidence) => sum + confidence, 0) / confidences.length;
  return {
    index,
    startMs: words[0]!.startMs,
    endMs: words.at(-1)!.endMs,
    text: words.map((word) => word.text).join(' '),
    ...(confidences.length > 0 && roundedConfidence(mean)),
    words,
  };
}

function roundedConfidence(confidence: number | undefined): { confidence?: number } {
  return confidence === undefined ? {} : { confidence: Math.round(confidence * 10_000) / 10_000 };
}
