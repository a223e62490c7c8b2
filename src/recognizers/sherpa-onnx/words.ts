import { RecognizerError } from '../recognizer.ts';
import type { Word } from '../recognizer.ts';
import type { PieceResult } from './messages.ts';

/** The length of a token is rarely known. It lasts until the next token, but not longer than this. */
const longestTokenMs = 400;

/** Scripts without spaces. There, each token is a word. */
const unspaced = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;

/**
 * Joins tokens to words. A token that begins with a space (or SentencePiece's `▁`) begins a word; the others continue
 * it.
 * @param fromMs where the piece begins that the times count from
 * @param toMs where the piece ends
 * @throws {RecognizerError} there is text, but the model does not say when which word was heard
 */
export function wordsOf(result: PieceResult, fromMs: number, toMs: number): Word[] {
  const { tokens, timestamps, durations, ys_log_probs: logarithms } = result;
  const hasWords = tokens.length > 0 && timestamps.length === tokens.length;
  if (!hasWords && result.text.trim() === '') return [];
  // Without words, speech would be taken for silence and not be charged.
  if (!hasWords) {
    throw new RecognizerError('recognizer_error', 'the model gives text without its times', { retryable: false });
  }
  const startOf = (index: number) => Math.min(toMs, fromMs + Math.round(timestamps[index]! * 1000));
  const endOf = (index: number) => {
    const nextMs = index + 1 < tokens.length ? startOf(index + 1) : toMs;
    const ownMs = durations.length === tokens.length ? Math.round(durations[index]! * 1000) : longestTokenMs;
    return Math.max(startOf(index), Math.min(nextMs, startOf(index) + ownMs));
  };

  const words: { startMs: number; endMs: number; text: string; logarithms: number[] }[] = [];
  tokens.forEach((token, index) => {
    const text = token.replaceAll('▁', ' ');
    const last = words.at(-1);
    const beginsWord = last === undefined || /^\s/.test(text) || unspaced.test(text) || unspaced.test(last.text);
    const word = beginsWord ? { startMs: startOf(index), endMs: 0, text: '', logarithms: [] as number[] } : last;
    if (beginsWord) words.push(word);
    word.text += text.trim();
    word.endMs = endOf(index);
    if (logarithms.length === tokens.length) word.logarithms.push(logarithms[index]!);
  });
  return words
    .filter(({ text }) => text !== '')
    .map(({ startMs, endMs, text, logarithms: own }) => ({ startMs, endMs, text, ...confidenceOf(own) }));
}

/** The probability of a word is the product of those of its tokens. */
function confidenceOf(logarithms: readonly number[]): { confidence?: number } {
  const confidence = Math.exp(logarithms.reduce((sum, logarithm) => sum + logarithm, 0));
  return logarithms.length > 0 && Number.isFinite(confidence) ? { confidence: Math.min(1, confidence) } : {};
}
