import { joinWords, joinedByScript, hasUnspaced } from '../../captions/lines.ts';
import type { SpokenWord } from '../../captions/segment.ts';

const isLetter = (character: string) => /[\p{L}\p{N}\p{M}]/u.test(character);

/** The letters and digits of a text, one by one. */
export const lettersOf = (text: string) => [...text.normalize('NFC')].filter(isLetter);

/** Whether the parts lack no word of the text. A server leaves out words whose times it could not find. */
export function holdAll(parts: readonly SpokenWord[], text: string): boolean {
  const held = lettersOf(joinWords(parts).toUpperCase());
  let next = 0;
  const isHeld = (letter: string) => (next = held.indexOf(letter, next) + 1) > 0;
  return parts.length > 0 && lettersOf(text.toUpperCase()).every(isHeld);
}

/**
 * Gives words the punctuation and the spaces of the text, because OpenAI leaves them out of the words. What the text
 * writes together becomes one word. Each letter of the text stays as it is.
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
    const written = characters.slice(from, to).join('').trim();
    const isSpaced = from > 0 && isBreakingSpace(characters[from - 1]!);
    punctuated.push({ ...word, text: written, ...spaceBefore(isSpaced, written, punctuated.at(-1)?.text ?? '') });
    from = to;
  });
  return punctuated;
}

/** Where the text has a space that its script lets not expect, or has none: `大家好 欢迎`, `看iPhone`. */
function spaceBefore(isSpaced: boolean, text: string, before: string): { afterSpace?: boolean } {
  const isExpected = joinedByScript(before, { text }).startsWith(' ');
  return isSpaced === isExpected ? {} : { afterSpace: isSpaced };
}

const isBreakingSpace = (character: string) => /[^\S\u00a0\u202f]/u.test(character);
const isOpening = (character: string) => /[\p{Ps}\p{Pi}¿¡]/u.test(character);

/** Where the text between two letters may be cut: at the last space, but before marks that open what follows (`: « Oui`). */
function cutBetween(characters: readonly string[], left: number, right: number): number | undefined {
  const between = characters.slice(left + 1, right);
  const mayBeCut = (character: string, at: number) =>
    isBreakingSpace(character) && (at === 0 || !isOpening(between[at - 1]!));
  const space = between.findLastIndex(mayBeCut);
  if (space !== -1) return left + 1 + space + 1;
  // A vowel sign or tone belongs to the letter before it.
  if (/\p{M}/u.test(characters[right]!)) return undefined;
  // In scripts without spaces, the server's words may be parts of words; captions join them.
  if (!hasUnspaced(characters[left]!) && !hasUnspaced(characters[right]!)) return undefined;
  const opening = between.length - between.findLastIndex((mark) => !isOpening(mark)) - 1;
  return right - opening;
}

function asOne(first: SpokenWord, second: SpokenWord): Partial<SpokenWord> {
  const { confidence = second.confidence } = first;
  const least = Math.min(confidence ?? 1, second.confidence ?? 1);
  return { startMs: first.startMs, ...(confidence !== undefined && { confidence: least }) };
}
