/** How words are called in the index. */
import { createHash } from 'node:crypto';
import { simple } from './index-languages.ts';
import type { Language } from './index-languages.ts';
import type { Token } from './tokens.ts';

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
