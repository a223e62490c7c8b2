import { fitsOnScreen, joinWords } from './lines.ts';
import { settled } from './settled.ts';
import type { WrittenWord } from './lines.ts';
import type { Word } from './segment.ts';

/** A caption that lasts longer, or holds more words, is hard to read. */
const longestMs = 10_000;
const mostWords = 20;

/** About a breath between two sentences. Chosen, not measured. */
const pauseMs = 600;

/** A caption with more words than this is cut at a shorter pause, before it reaches its longest length. */
const enoughWords = 10;
const shortPauseMs = 200;

/** A shorter sentence, such as "Yes.", stays with the next one, because nobody could read it alone. */
const shortestSentenceMs = 1_000;

/** When a caption has to be cut, a comma counts as much as a pause of this many ms. */
const commaMs = 300;

const sentenceEnd = /[.!?…。！？]["'”’»)\]]*$/u;
const clauseEnd = /[,;:–—，、；：]["'”’»)\]]*$/u;
/** `Mr.`, `J.`, `e.g.`: the full stop after these does not end a sentence. */
const abbreviation = /^["'“‘«([]*(\p{L}|Mr|Mrs|Ms|Dr|Jr|Sr|St|Prof|vs|(\p{L}\.){1,9}\p{L})\.$/u;

/**
 * Cuts the words of an utterance into captions: at the ends of sentences, at pauses and where the speaker changes. A
 * caption that would grow beyond 10 s, 20 words or two lines of 42 characters is cut at the best place in its second
 * half. What nobody could read alone is given to a neighbour.
 * @param words in order of time
 */
export function cutIntoCaptions<W extends Word & { speaker?: string }>(words: readonly W[]): W[][] {
  const captions: W[][] = [];
  let start = 0;
  const cutAt = (end: number) => {
    captions.push(words.slice(start, end));
    start = end;
  };
  for (let next = 1; next < words.length; next += 1) {
    if (isBoundary(words.slice(start, next), words[next]!)) cutAt(next);
    else if (!fits(words.slice(start, next + 1))) cutAt(bestCut(words, start, next));
  }
  if (words.length > 0) cutAt(words.length);
  return settled(captions, fits);
}

function isBoundary<W extends Word & { speaker?: string }>(caption: readonly W[], next: W): boolean {
  const last = caption.at(-1)!;
  if (last.speaker !== next.speaker) return true;
  const silenceMs = next.startMs - last.endMs;
  if (silenceMs >= pauseMs || (caption.length >= enoughWords && silenceMs >= shortPauseMs)) return true;
  return endsSentence(last.text, next.text) && last.endMs - caption[0]!.startMs >= shortestSentenceMs;
}

/** Whether a word is the last of a sentence. @param next the word after it */
export const endsSentence = (text: string, next: string): boolean =>
  sentenceEnd.test(text) && !abbreviation.test(text) && !/^\p{Ll}/u.test(next);

export const endsClause = (text: string): boolean => clauseEnd.test(text);

function fits(caption: readonly (Word & WrittenWord)[]): boolean {
  if (caption.length > mostWords || caption.at(-1)!.endMs - caption[0]!.startMs > longestMs) return false;
  return fitsOnScreen(joinWords(caption));
}

/**
 * In the second half of words `start` to `end`, the end of a clause or the longest pause; of equal ones, the last. The
 * last word of a sentence does not begin a caption.
 */
function bestCut(words: readonly Word[], start: number, end: number): number {
  const earliest = Math.min(end, start + Math.ceil((end - start) / 2));
  let [best, bestWorth] = [earliest, -1];
  for (let cut = earliest; cut <= end; cut += 1) {
    if (cut === end && cut > earliest && endsSentence(words[cut]!.text, words[cut + 1]?.text ?? '')) break;
    const before = words[cut - 1]!;
    const worth = words[cut]!.startMs - before.endMs + (endsClause(before.text) ? commaMs : 0);
    if (worth >= bestWorth) [best, bestWorth] = [cut, worth];
  }
  return best;
}
