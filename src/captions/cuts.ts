import { fitsOnScreen, joinWords } from './lines.ts';
import type { WrittenWord } from './lines.ts';
import type { Word } from './segment.ts';

type Said = Word & { speaker?: string };

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
export function cutIntoCaptions<W extends Said>(words: readonly W[]): W[][] {
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

function isBoundary<W extends Said>(caption: readonly W[], next: W): boolean {
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

/** What is shown for less is gone before it is read. */
const shortestMs = 1_000;
/** Neighbours with a longer pause between them stay apart. */
const longestPauseMs = 1_500;

/** One word, or words that are gone at once. */
const isTiny = (caption: readonly Said[]): boolean =>
  caption.length === 1 || caption.at(-1)!.endMs - caption[0]!.startMs < shortestMs;

/**
 * Nobody could read a tiny caption alone: gives its words to the neighbour that is nearer, if it has room; else both share their words anew,
 * as evenly as can be.
 * @param fits whether words are not too many for a caption
 */
function settled<W extends Said>(captions: readonly W[][], fits: (words: readonly W[]) => boolean): W[][] {
  const left = [...captions];
  const done: W[][] = [];
  while (left.length > 0) {
    const caption = left.shift()!;
    const [before, after] = [done.at(-1), left[0]];
    const pauses = [pauseBetween(before, caption), pauseBetween(caption, after)] as const;
    if (!isTiny(caption) || Math.min(...pauses) > longestPauseMs) {
      done.push(caption);
    } else if (pauses[0] <= pauses[1]) {
      done.splice(-1, 1, ...shared([...before!, ...caption], before!.length, fits));
    } else {
      const [first, second] = shared([...caption, ...after!], caption.length, fits);
      left.shift();
      // What was joined may be tiny still.
      if (second === undefined) left.unshift(first!);
      else done.push(first!, second);
    }
  }
  return done;
}

function pauseBetween(caption: readonly Said[] | undefined, next: readonly Said[] | undefined): number {
  const [last, first] = [caption?.at(-1), next?.[0]];
  if (last === undefined || first === undefined || last.speaker !== first.speaker) return Infinity;
  return first.startMs - last.endMs;
}

/** One caption if all fits; else two, of about the same number of words where none is tiny then. @param cut where it is now */
function shared<W extends Said>(words: readonly W[], cut: number, fits: (words: readonly W[]) => boolean): W[][] {
  if (fits(words)) return [[...words]];
  const inTwo = (place: number): [W[], W[]] => [words.slice(0, place), words.slice(place)];
  const places = words.slice(1).map((_, index) => index + 1);
  const better = places
    .filter((place) => inTwo(place).every((part) => fits(part) && !isTiny(part)))
    .toSorted((one, other) => Math.abs(2 * one - words.length) - Math.abs(2 * other - words.length))[0];
  return inTwo(better ?? cut);
}
