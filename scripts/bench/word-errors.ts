/** How many words a recognizer got wrong: the usual word error rate. */
import { normalWords } from './normal-words.ts';

export interface WordErrors {
  /** Words of the reference. */
  words: number;
  insertions: number;
  deletions: number;
  substitutions: number;
}

/** The best ways from the reference's words to the heard ones so far. */
interface Row {
  errors: Int32Array;
  insertions: Int32Array;
  deletions: Int32Array;
}

/**
 * Counts errors by the alignment of both texts with the fewest errors. Of several such alignments, the one with most
 * substitutions counts.
 */
export function wordErrors(reference: string, heard: string): WordErrors {
  const numbers = new Map<string, number>();
  const numbered = (text: string) =>
    Int32Array.from(
      normalWords(text),
      (word) => numbers.get(word) ?? (numbers.set(word, numbers.size), numbers.size - 1),
    );
  const [expected, hypothesis] = [numbered(reference), numbered(heard)];
  const width = hypothesis.length + 1;
  const newRow = (): Row => ({
    ...{ errors: new Int32Array(width), insertions: new Int32Array(width), deletions: new Int32Array(width) },
  });
  let [above, row] = [newRow(), newRow()];
  for (let column = 1; column < width; column += 1) above.errors[column] = above.insertions[column] = column;
  for (let line = 1; line <= expected.length; line += 1) {
    row.errors[0] = row.deletions[0] = line;
    for (let column = 1; column < width; column += 1) {
      const isSame = expected[line - 1] === hypothesis[column - 1];
      const substituted = above.errors[column - 1]! + (isSame ? 0 : 1);
      const deleted = above.errors[column]! + 1;
      const inserted = row.errors[column - 1]! + 1;
      const errors = Math.min(substituted, deleted, inserted);
      const [from, at] =
        errors === substituted ? [above, column - 1] : errors === deleted ? [above, column] : [row, column - 1];
      row.errors[column] = errors;
      row.insertions[column] = from.insertions[at]! + (from === row ? 1 : 0);
      row.deletions[column] = from.deletions[at]! + (from === above && at === column ? 1 : 0);
    }
    [above, row] = [row, above];
  }
  const [errors, insertions, deletions] = [above.errors.at(-1)!, above.insertions.at(-1)!, above.deletions.at(-1)!];
  return { words: expected.length, insertions, deletions, substitutions: errors - insertions - deletions };
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
