/** What fits on a screen: two lines of 42 characters, as subtitling guides have it. */
const lineCharacters = 42;

/** Scripts that are written without spaces between words. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uffef]/u;

/** Words as a sentence: with spaces between them, but not within Chinese and Japanese. */
export function joinWords(words: readonly string[]): string {
  return words.reduce((text, word) => {
    const isUnspaced = unspaced.test([...text].at(-1) ?? '') && unspaced.test([...word][0] ?? '');
    return text === '' || isUnspaced ? text + word : `${text} ${word}`;
  }, '');
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
