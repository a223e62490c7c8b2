/**
 * What a text is made of, for search: words, and pairs of characters in scripts that put no spaces between words; and how words are
 * called in the index.
 */
import { createHash } from 'node:crypto';
import { simple } from './index-languages.ts';
import type { Language } from './index-languages.ts';

export interface Token {
  /** In lower case and without accents. */
  text: string;
  /** From 0. Neighbours are 1 apart. */
  position: number;
  /**
   * `pair`: a character and the next, or the last one alone, of a script without spaces. `plain`: there is nothing to
   * inflect, as in `2026`.
   */
  kind: 'word' | 'plain' | 'pair';
}

/** Longer ones are no words. */
const longest = 64;
/**
 * With a limit, and a longer word is cut: a process with many regular expressions compiles them without optimizing (V8). Every
 * letter is put on a stack then, which ends at some millions.
 */
const wordLike = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]{0,99999}/gu;
/** Korean has spaces, but its particles stick to the words before them. */
const unspaced =
  '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}\\p{scx=Tibt}';
const runs = new RegExp(`[${unspaced}]+|[^${unspaced}]+`, 'gu');
const isUnspaced = new RegExp(`^[${unspaced}]`, 'u');
const hasLetter = /\p{L}/u;

/** The tokens of a text in their order. @param from the position of the first */
export function tokensOf(text: string, from = 0): Token[] {
  const tokens: Token[] = [];
  let position = from;
  for (const [found] of fold(text).matchAll(wordLike)) {
    for (const run of isPlainAscii(found) ? [found] : found.match(runs)!) {
      if (isUnspaced.test(run)) {
        const characters = [...run];
        for (const [index, character] of characters.entries()) {
          tokens.push({ text: character + (characters[index + 1] ?? ''), position, kind: 'pair' });
          position += 1;
        }
      } else {
        tokens.push({
          text: run.slice(0, longest).toWellFormed(),
          position,
          kind: hasLetter.test(run) ? 'word' : 'plain',
        });
        position += 1;
      }
    }
  }
  return tokens;
}

const isPlainAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

const accents = /([\p{sc=Latin}\p{sc=Grek}])[\u0300-\u036f]+/gu;
/**
 * Vowel signs that Arabic and Hebrew may leave out, hyphens that are only seen at the end of a line, and what chooses another
 * picture of a character or frames it, as in `1️⃣`.
 */
const optionalSigns = /[\u064b-\u0652\u0670\u0591-\u05c7\u00ad\p{Me}\p{VS}]/gu;
/** What is one letter with an accent to people, and none to Unicode. */
const folded: Record<string, string> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i', ς: 'σ', ё: 'е' },
};
const foldable = new RegExp(`[${Object.keys(folded).join('')}]`, 'gu');

/** Case, accents and width are gone: `Ｃafé`, `CAFÉ` and `cafe` are the same. */
function fold(text: string): string {
  if (isPlainAscii(text)) return text.toLowerCase();
  return text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replace(accents, '$1')
    .replace(optionalSigns, '')
    .normalize('NFC')
    .replace(foldable, (letter) => folded[letter]!);
}

/** The stems of words in one language; an empty one of words that are very common there. */
export type Stems = ReadonlyMap<string, string>;

/**
 * Whether a word is very common in the language, as `the` is. Such words are in the index without their places, which would
 * take more room than those of all the others.
 */
export const isCommon = ({ kind, text }: Token, stems: Stems): boolean => kind === 'word' && stems.get(text) === '';

/**
 * Four characters before all of an account's words. Without them the index would look through what others said to find out
 * that this account never said it, and the time for that would tell.
 */
export function accountMark(accountId: string): string {
  const digest = createHash('sha256').update(accountId).digest().readUInt32BE();
  return (digest % 36 ** 4).toString(36).padStart(4, '0');
}

/** @param account its mark */
export function lexemeOf(account: string, language: Language, { kind, text }: Token, stems: Stems): string {
  return kind === 'word' ? `${account}${language.mark}${stems.get(text) || text}` : `${account}${simple.mark}${text}`;
}

/** A stem from its end to its beginning: so a joined word is found by the last word in it. */
export function reversedOf(account: string, { mark }: Language, { text }: Token, stems: Stems): string {
  return `${account}${mark}<${[...(stems.get(text) || text)].reverse().join('')}`;
}
