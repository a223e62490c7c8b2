/** How many words a recognizer got wrong: the usual word error rate. */
import { normalWords } from './normal-words.ts';

export interface WordErrors {
  /** Words of the reference. */
  words: number;
  insertions: number;
  deletions: number;
  substitutions: number;
}

const [step, skipSaid, skipHeard] = [0, 1, 2];

/**
 * Lays one text over the other with as few errors as possible. Of several such ways, the one with most substitutions counts.
 * @returns pairs of places, in order: one of them is missing where a word was left out or put in
 */
export function aligned(said: readonly string[], heard: readonly string[]): [number | undefined, number | undefined][] {
  const numbers = new Map([...new Set([...said, ...heard])].map((word, index) => [word, index]));
  const [rows, columns] = [said, heard].map((words) => Int32Array.from(words, (word) => numbers.get(word)!));
  const width = heard.length + 1;
  const ways = new Uint8Array((said.length + 1) * width).fill(skipHeard, 0, width);
  let [above, row] = [Int32Array.from({ length: width }, (_, column) => column), new Int32Array(width)];
  for (let line = 1; line <= said.length; line += 1) {
    row[0] = line;
    ways[line * width] = skipSaid;
    for (let column = 1; column < width; column += 1) {
      const substituted = above[column - 1]! + (rows![line - 1] === columns![column - 1] ? 0 : 1);
      const deleted = above[column]! + 1;
      const least = Math.min(substituted, deleted, row[column - 1]! + 1);
      row[column] = least;
      ways[line * width + column] = least === substituted ? step : least === deleted ? skipSaid : skipHeard;
    }
    [above, row] = [row, above];
  }
  const pairs: [number | undefined, number | undefined][] = [];
  for (let [line, column] = [said.length, heard.length]; line > 0 || column > 0;) {
    const way = ways[line * width + column];
    if (way !== skipHeard) line -= 1;
    if (way !== skipSaid) column -= 1;
    pairs.push([way === skipHeard ? undefined : line, way === skipSaid ? undefined : column]);
  }
  return pairs.reverse();
}

export function wordErrors(reference: string, heard: string): WordErrors {
  const [expected, hypothesis] = [normalWords(reference), normalWords(heard)];
  const errors: WordErrors = { words: expected.length, insertions: 0, deletions: 0, substitutions: 0 };
  for (const [one, other] of aligned(expected, hypothesis)) {
    if (one === undefined) errors.insertions += 1;
    else if (other === undefined) errors.deletions += 1;
    else if (expected[one] !== hypothesis[other]) errors.substitutions += 1;
  }
  return errors;
}

/**
 * Errors per word of the reference. Without words in the reference, all words that were heard count. May be above 1.
 */
export function errorRate({ words, insertions, deletions, substitutions }: WordErrors): number {
  return (insertions + deletions + substitutions) / Math.max(1, words);
}

export const wordErrorRate = (reference: string, heard: string): number => errorRate(wordErrors(reference, heard));

export function sumOf(all: readonly WordErrors[]): WordErrors {
  const sum = (name: keyof WordErrors) => all.reduce((total, errors) => total + errors[name], 0);
  return {
    ...{ words: sum('words'), insertions: sum('insertions'), deletions: sum('deletions') },
    substitutions: sum('substitutions'),
  };
}
