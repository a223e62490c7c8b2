/** Recognizers cut scripts without spaces into characters, or into parts of them. People read words. */
import { joinedByScript, wordSegmenter } from './lines.ts';
import { hasUnspaced } from './scripts.ts';
import type { WrittenWord } from './lines.ts';
import type { Word } from './segment.ts';

type Token = Word & WrittenWord & { speaker?: string };

/**
 * Joins the tokens of words in scripts without spaces (Unicode Standard Annex 29, as `Intl.Segmenter` knows it). A mark
 * that stands alone is joined to what it closes.
 * @param tokens of an utterance, in order
 */
export function intoWords<T extends Token>(tokens: readonly T[]): T[] {
  if (!tokens.some(({ text }) => hasUnspaced(text))) return [...tokens];
  const offsets: number[] = [];
  const text = tokens.reduce((before, token, index) => {
    const after = before + joinedByScript(before, token);
    offsets[index] = after.length - token.text.length;
    return after;
  }, '');
  const starts = new Set([...wordSegmenter.segment(text)].map(({ index }) => index));
  const words: T[] = [];
  tokens.forEach((token, index) => {
    const last = words.at(-1);
    const offset = offsets[index]!;
    const isNext = offset === 0 || /\s/.test(text[offset - 1]!) || !(hasUnspaced(text[offset - 1]!) || hasUnspaced(text[offset]!)); // prettier-ignore
    const isRest = !isNext && (!starts.has(offset) || isClosing(token.text));
    if (last !== undefined && isRest && last.speaker === token.speaker) words[words.length - 1] = asOne(last, token);
    else words.push(token);
  });
  return words;
}

const isClosing = (text: string) => !/[\p{L}\p{N}\p{M}\p{Ps}\p{Pi}]/u.test(text);

function asOne<T extends Token>(first: T, second: T): T {
  const { confidence = second.confidence } = first;
  const least = Math.min(confidence ?? 1, second.confidence ?? 1);
  return {
    ...first,
    text: first.text + second.text,
    endMs: Math.max(first.endMs, second.endMs),
    ...(confidence !== undefined && { confidence: least }),
  };
}
