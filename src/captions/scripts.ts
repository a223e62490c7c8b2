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
