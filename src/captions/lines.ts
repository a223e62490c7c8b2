import { cutPenalty } from './breaths.ts';

/**
 * Scripts that are written without spaces between words. `scx` also finds the characters that several of them share, such
 * as the long vowel of Japanese (ー). The middle dot is left out, since it is a letter in Catalan.
 */
const unspaced =
  /[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\u3000-\u303f\uff00-\uffef]--[·]]/v;

/** Scripts without spaces in which each character is a word for recognizers. */
const characterWords = /^[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}]--[·]]/v;

/** Whether some of a text is in a script without spaces. */
export const hasUnspaced = (text: string): boolean => unspaced.test(text);

/** Whether a text begins with a character that is a word by itself. */
export const beginsWithCharacterWord = (text: string): boolean => characterWords.test(text);

/**
 * What fits on a screen: two lines of 42 characters, or of 16 full-width ones, as Netflix's Timed Text Style Guides have
 * it for Latin scripts and for Chinese, Japanese and Korean.
 */
export const lineColumns = 42;
const fullWidthCharacters = 16;
const fullWidth = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\u3000-\u303f\uff00-\uff60]/u;

export const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** A word of a caption, as it is written there. */
export interface WrittenWord {
  text: string;
  /** Whether a space goes before the word. Without it, the script of the text decides. */
  afterSpace?: boolean;
}

/** Joins words to a sentence: with spaces between them, except in Chinese, Japanese, Thai and similar scripts. */
export function joinWords(words: readonly WrittenWord[]): string {
  return words.reduce((text, word) => text + joinedByScript(text, word), '');
}

/** What a word adds to the text before it: itself, with a space where one belongs. */
export function joinedByScript(text: string, { text: word, afterSpace }: WrittenWord): string {
  const isUnspaced = hasUnspaced([...text.slice(-2)].at(-1) ?? '') && hasUnspaced([...word.slice(0, 2)][0] ?? '');
  return text === '' || !(afterSpace ?? !isUnspaced) ? word : ` ${word}`;
}

/** Spaces at which a text may be cut: `10 000` and `Ça va ?` hold others. */
const breakingSpaces = /[^\S\u00a0\u202f]+/u;
const hasLetters = (text: string) => /[\p{L}\p{N}]/u.test(text);
/** After it, the `-` is of another speaker: `Why? - No.` */
const isOpening = (text: string, last = '') =>
  /^[\p{Ps}\p{Pi}¿¡>]+$/u.test(text) || (/^\p{Pd}$/u.test(text) && /^$|[.!?…]$/u.test(last));

/**
 * Cuts a text into words, each with its punctuation: at spaces and, in scripts without spaces, at the ends of words.
 * Marks that stand alone, as in `Ça va ?` and `It was — I think`, stay with the word before them, and opening ones with
 * the word after them.
 */
export function splitWords(text: string): Required<WrittenWord>[] {
  const spaced: string[] = [];
  for (const part of text.trim().split(breakingSpaces)) {
    const last = spaced.at(-1);
    const belongsToLast = last !== undefined && (isOpening(last) || (!hasLetters(part) && !isOpening(part, last)));
    if (belongsToLast) spaced[spaced.length - 1] = `${last} ${part}`;
    else spaced.push(part);
  }
  return spaced.flatMap((part) =>
    (hasUnspaced(part) ? splitUnspaced(part) : [part]).map((word, index) => ({ text: word, afterSpace: index === 0 })),
  );
}

function splitUnspaced(text: string): string[] {
  const words: string[] = [];
  let opening = '';
  for (const { segment, isWordLike } of wordSegmenter.segment(text)) {
    if (isWordLike) {
      words.push(opening + segment);
      opening = '';
    } else if (words.length === 0 || opening !== '' || /^[\p{Ps}\p{Pi}]/u.test(segment)) opening += segment;
    else words[words.length - 1] += segment;
  }
  return opening === '' ? words : [...words, opening];
}

/** How wide a text is, in columns of a Latin letter. Marks above and below a letter take no room. */
export function widthOf(text: string): number {
  let columns = 0;
  for (const character of text)
    if (!/\p{Mn}/u.test(character)) columns += fullWidth.test(character) ? lineColumns / fullWidthCharacters : 1;
  return columns;
}

/** Of a long text, the width is not worth counting: no letter has more marks. */
const mostLetters = lineColumns * 8;

const isLine = (text: string): boolean => text.length <= mostLetters && widthOf(text) <= lineColumns;

/**
 * Breaks text between words: one line where it fits, two lines of about the same width where that is enough, else as
 * many full lines as it takes. A word that is wider than a line gets a line of its own.
 */
export function toLines(text: string): string[] {
  if (isLine(text)) return [text];
  const words = splitWords(text);
  return intoTwo(words) ?? intoFull(words);
}

/** So much more may two lines differ in width for a better cut. */
const columnsPerBadness = 6;

function intoTwo(words: readonly WrittenWord[]): string[] | undefined {
  let best: string[] | undefined;
  let least = Infinity;
  for (let cut = 1; cut < words.length; cut += 1) {
    const [first, second] = [joinWords(words.slice(0, cut)), joinWords(words.slice(cut))];
    if (!isLine(first)) break;
    if (!isLine(second)) continue;
    const worth = Math.abs(widthOf(first) - widthOf(second)) + columnsPerBadness * cutPenalty(words, cut - 1);
    if (worth < least) [best, least] = [[first, second], worth];
  }
  return best;
}

function intoFull(words: readonly WrittenWord[]): string[] {
  const lines = [''];
  for (const word of words) {
    const last = lines.at(-1)!;
    const longer = last + joinedByScript(last, word);
    if (last === '' || isLine(longer)) lines[lines.length - 1] = longer;
    else lines.push(word.text);
  }
  return lines;
}
