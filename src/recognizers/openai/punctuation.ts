import { hasUnspaced } from '../../captions/scripts.ts';
import type { SpokenWord } from '../../captions/segments.ts';

const isLetter = (character: string) => /[\p{L}\p{N}\p{M}]/u.test(character);

/** The letters and digits of a text, one by one. */
export const lettersOf = (text: string) => [...text.normalize('NFC')].filter(isLetter);

/**
 * Gives words the punctuation of the text, because OpenAI leaves it out of the words. What the text writes together
 * becomes one word.
 * @param words in the order of the text
 * @returns undefined when the words don't have exactly the letters and digits of the text, or when there are none
 */
export function withPunctuation(words: readonly SpokenWord[], text: string): SpokenWord[] | undefined {
  const characters = [...text.normalize('NFC')];
  const places = characters.flatMap((character, place) => (isLetter(character) ? [place] : []));
  const spoken = words.filter((word) => lettersOf(word.text).length > 0);
  const inWords = spoken.flatMap((word) => lettersOf(word.text)).join('');
  if (spoken.length === 0 || inWords !== lettersOf(text).join('')) return undefined;

  const punctuated: SpokenWord[] = [];
  let letters = 0;
  let from = 0;
  spoken.forEach((word, index) => {
    letters += lettersOf(word.text).length;
    const isLast = index === spoken.length - 1;
    const to = isLast ? characters.length : cutBetween(characters, places[letters - 1]!, places[letters]!);
    if (to === undefined) {
      // The text writes both together, as in `well-known`, so the next word is joined to this one.
      spoken[index + 1] = { ...spoken[index + 1]!, ...asOne(word, spoken[index + 1]!) };
      return;
    }
    punctuated.push({ ...word, text: closedUp(characters.slice(from, to).join('')) });
    from = to;
  });
  return punctuated;
}

/** Where the text between two letters may be cut. */
function cutBetween(characters: readonly string[], left: number, right: number): number | undefined {
  const spaces = characters.slice(left, right).findLastIndex((character) => /\s/.test(character));
  if (spaces !== -1) return left + spaces + 1;
  // A vowel sign or tone belongs to the letter before it.
  if (/\p{M}/u.test(characters[right]!)) return undefined;
  // In scripts without spaces, only the server's words tell where a word ends.
  return hasUnspaced(characters[left]!) || hasUnspaced(characters[right]!) ? right : undefined;
}

/** Dashes and notes that stand alone have no times of their own, so they are joined to a word beside them. */
function closedUp(text: string): string {
  const parts = text.trim().split(/\s+/);
  return parts.filter((part) => [...part].some(isLetter)).length === 1 ? parts.join('') : text.trim();
}

function asOne(first: SpokenWord, second: SpokenWord): Partial<SpokenWord> {
  const { confidence = second.confidence } = first;
  const least = Math.min(confidence ?? 1, second.confidence ?? 1);
  return { startMs: first.startMs, ...(confidence !== undefined && { confidence: least }) };
}
