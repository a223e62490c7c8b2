import { hasUnspaced } from './scripts.ts';

/** What fits on a screen: two lines of 42 characters, as subtitling guides have it. */
const lineCharacters = 42;

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** A word of a caption, as it is written there. */
export interface WrittenWord {
  text: string;
  /** Whether a space goes before the word. Without it, the script of the text decides. */
  afterSpace?: boolean;
}

/** Joins words to a sentence: with spaces between them, except in Chinese, Japanese, Thai and similar scripts. */
export function joinWords(words: readonly WrittenWord[]): string {
  return words.reduce((text, { text: word, afterSpace }) => {
    const isUnspaced = hasUnspaced([...text].at(-1) ?? '') && hasUnspaced([...word][0] ?? '');
    return text === '' || !(afterSpace ?? !isUnspaced) ? text + word : `${text} ${word}`;
  }, '');
}

/**
 * Cuts a text into words, each with its punctuation: at spaces and, in scripts without spaces, at the ends of words.
 */
export function splitWords(text: string): Required<WrittenWord>[] {
  return text
    .trim()
    .split(/\s+/)
    .flatMap((spaced) =>
      (hasUnspaced(spaced) ? splitUnspaced(spaced) : [spaced]).map((word, index) => ({
        text: word,
        afterSpace: index === 0,
      })),
    );
}

function splitUnspaced(text: string): string[] {
  const words: string[] = [];
  let opening = '';
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    if (isWordLike) {
      words.push(opening + segment);
      opening = '';
    } else if (words.length === 0 || opening !== '' || /^[\p{Ps}\p{Pi}]/u.test(segment)) opening += segment;
    else words[words.length - 1] += segment;
  }
  return opening === '' ? words : [...words, opening];
}

/** Whether `toLines` gets by with two lines. */
export function fitsOnScreen(text: string): boolean {
  return toLines(text).every((line) => line.length <= lineCharacters) && toLines(text).length <= 2;
}

/**
 * Breaks text at spaces: one line where it fits, two lines of about the same length where that is enough, else as many
 * full lines as it takes. A word that is longer than a line gets a line of its own.
 */
export function toLines(text: string): string[] {
  if (text.length <= lineCharacters) return [text];
  return intoTwo(text) ?? intoFull(text);
}

function intoTwo(text: string): [string, string] | undefined {
  const breaks = [...text.matchAll(/ /g)]
    .map(({ index }) => [text.slice(0, index), text.slice(index + 1)] as [string, string])
    .filter((lines) => lines.every((line) => line.length <= lineCharacters));
  const difference = ([first, second]: [string, string]) => Math.abs(first.length - second.length);
  return breaks.sort((a, b) => difference(a) - difference(b))[0];
}

function intoFull(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= lineCharacters) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
