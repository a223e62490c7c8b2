import { cutPenalty, breathAfter } from './breaths.ts';
import { joinedByScript, lineColumns, widthOf } from './lines.ts';
import type { SpokenWord } from './segment.ts';

/** A caption that lasts longer, or holds more words, is hard to read; one of 7 s is long. */
const [longestMs, longMs] = [10_000, 7_000];
const mostWords = 20;
/** What is shown for less is gone before it is read. */
const shortestMs = 1_000;

/** No caption reaches over a longer pause. */
const longestPauseMs = 1_500;
/** About a breath between two sentences. */
const sentencePauseMs = 600;

/** How bad it is that a caption has one word, or is gone at once; goes on behind the end of a sentence, or a pause; is long, by s. */
const [tiny, pastSentence, pastPause, tooLong] = [6, 2, 3, 4];
/** How bad an empty caption would be: of cuts that are alike, those are best that make captions alike. */
const uneven = 2;

/**
 * Cuts the words of an utterance into captions that can be read: at most 10 s, rather 7, 20 words and two lines of 42 characters,
 * of one speaker, none over a pause of 1.5 s. Of all ways to do so it takes the one with the best cuts.
 * @param words in order of time
 */
export function cutIntoCaptions(words: readonly SpokenWord[]): SpokenWord[][] {
  const cuts = words.map((_, index) => cutAfter(words, index));
  const missed = sumsOf(cuts.map((cut) => cut.missed));
  const columnsIn = columnsOf(words);
  /** By how many words are in captions: how bad the best way is, and where its last caption begins. */
  const best = [{ sum: 0, start: 0 }];
  for (let end = 1; end <= words.length; end += 1) {
    let [sum, start] = [Infinity, end - 1];
    for (let from = end - 1; from >= 0; from -= 1) {
      const count = end - from;
      const lengthMs = words[end - 1]!.endMs - words[from]!.startMs;
      const isTooMuch = count > mostWords || lengthMs > longestMs || !fitsOnScreen(columnsIn, from, end);
      if (count > 1 && (cuts[from]!.isForced || isTooMuch)) break;
      const isTiny = count === 1 || lengthMs < shortestMs;
      const empty = Math.max(0, 1 - columnsIn(from, end) / (2 * lineColumns));
      const own = (isTiny ? tiny : 0) + (tooLong * Math.max(0, lengthMs - longMs)) / 1000 + uneven * empty ** 2;
      const whole = best[from]!.sum + own + missed[end - 1]! - missed[from]! + cuts[end - 1]!.badness;
      if (whole < sum) [sum, start] = [whole, from];
    }
    best.push({ sum, start });
  }
  const captions: SpokenWord[][] = [];
  for (let end = words.length; end > 0; end = best[end]!.start) captions.push(words.slice(best[end]!.start, end));
  return captions.reverse();
}

/** Of a cut behind a word: whether it has to be, how bad it is, and how bad it is not to cut there. */
function cutAfter(words: readonly SpokenWord[], index: number): { isForced: boolean; badness: number; missed: number } {
  const [word, next] = [words[index]!, words[index + 1]];
  if (next === undefined) return { isForced: false, badness: 0, missed: 0 };
  const silenceMs = next.startMs - word.endMs;
  const isForced = silenceMs >= longestPauseMs || word.speaker !== next.speaker;
  const pause = Math.min(1, Math.max(0, silenceMs) / sentencePauseMs);
  return {
    isForced,
    badness: isForced ? 0 : cutPenalty(words, index) * (1 - pause),
    missed: (breathAfter(word.text, next.text) === 'sentence' ? pastSentence : 0) + pastPause * pause ** 2,
  };
}

/** @returns what the first ones are together, from none to all */
export const sumsOf = (values: readonly number[]): number[] => {
  const sums = [0];
  for (const value of values) sums.push(sums.at(-1)! + value);
  return sums;
};

type Columns = (from: number, end: number) => number;

/** @returns how wide the words from one to before another are in a line */
function columnsOf(words: readonly SpokenWord[]): Columns {
  const spaces = words.map((word, index) => {
    const before = words[index - 1]?.text ?? '';
    return joinedByScript(before, word).length - word.text.length;
  });
  const sums = sumsOf(words.map(({ text }, index) => widthOf(text) + spaces[index]!));
  return (from, end) => sums[end]! - sums[from]! - (spaces[from] ?? 0);
}

/** Whether words fit into two lines. */
function fitsOnScreen(columnsIn: Columns, from: number, end: number): boolean {
  let second = from;
  while (second < end && columnsIn(from, second + 1) <= lineColumns) second += 1;
  return second === end || columnsIn(second, end) <= lineColumns;
}
