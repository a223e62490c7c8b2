/** Where a text may be cut: where people breathe who read it aloud. */

const sentenceEnd = /[.!?…。！？]["'”’»)\]]*$/u;
const clauseEnd = /[,;:–—，、；：]["'”’»)\]]*$/u;
/** `Mr.`, `J.`, `e.g.`: the full stop after these does not end a sentence. */
const abbreviation = /^["'“‘«([]*(\p{L}|Mr|Mrs|Ms|Dr|Jr|Sr|St|Prof|vs|(\p{L}\.){1,9}\p{L})\.$/u;

/** Whether a word is the last of a sentence. @param next the word after it */
export const endsSentence = (text: string, next: string): boolean =>
  sentenceEnd.test(text) && !abbreviation.test(text) && !/^\p{Ll}/u.test(next);

/** Where people breathe: at the end of a sentence or a clause, or before a phrase, which begins with a short word (`of`, `und`, `que`). */
export type Breath = 'sentence' | 'clause' | 'phrase' | 'none';

const longestShortWord = 4;

/** What ends with a word. @param next the word after it; undefined: the text ends */
export function breathAfter(text: string, next: string | undefined): Breath {
  if (next === undefined || endsSentence(text, next)) return 'sentence';
  if (clauseEnd.test(text)) return 'clause';
  return lettersOf(text) > longestShortWord && lettersOf(next) <= longestShortWord ? 'phrase' : 'none';
}

/** How bad a cut is behind a word that ends so. */
const badness: Record<Breath, number> = { sentence: 0, clause: 1, phrase: 2, none: 3 };
/** How bad it is besides to part a short word from the one that it stands before, or to leave one word of a sentence alone. */
const [partsShort, leavesOne] = [2, 4];

/** How bad it is to cut a text behind one of its words: 0 to 9. */
export function cutPenalty(words: readonly { text: string }[], index: number): number {
  const breathAt = (at: number) => breathAfter(words[at]?.text ?? '', words[at + 1]?.text);
  const breath = breathAt(index);
  const isOneAlone =
    breath !== 'sentence' && (breathAt(index - 1) === 'sentence' || breathAt(index + 1) === 'sentence');
  const isShort = breath === 'none' && lettersOf(words[index]!.text) <= longestShortWord;
  return badness[breath] + (isShort ? partsShort : 0) + (isOneAlone ? leavesOne : 0);
}

/** How long a word is when it is said, in letters. Spaces and punctuation take no time, and digits are words. */
export const lettersOf = (text: string): number =>
  Math.max(1, text.replace(/\p{N}/gu, 'four').replace(/[^\p{L}\p{M}]/gu, '').length);
