/** What a model recognized in a chunk, with times from the start of the recording. */
import { beginsWithCharacterWord } from '../../captions/lines.ts';
import { canonicalTag } from '../../languages/tags.ts';
import { RecognizerError } from '../recognizer.ts';
import type { Chunk } from '../../audio/chunks.ts';
import type { Word } from '../../captions/segment.ts';
import type { OfflineResult } from 'sherpa-onnx-node';
import type { ModelFamily } from './model-families.ts';

/**
 * @returns words where the model tells their times; otherwise texts, one for each sentence if it gives the times of
 *   these, or one for the whole chunk
 * @throws {RecognizerError} there is no time where the model should tell one
 */
export function wordsIn(result: OfflineResult, chunk: Chunk, { times }: ModelFamily): Word[] {
  if (times === 'words') return wordsOf(result, chunk.windowStartMs, chunk.windowEndMs);
  const text = result.text.trim();
  if (text === '') return [];
  const sentences = times === 'segments' ? sentencesOf(result, chunk) : undefined;
  return sentences ?? [{ text, startMs: chunk.startMs, endMs: chunk.endMs }];
}

/** @returns undefined when they are not the whole text */
function sentencesOf(result: OfflineResult, chunk: Chunk): Word[] | undefined {
  const { segment_texts: texts = [], segment_timestamps: starts = [], segment_durations: lengths = [] } = result;
  const isWhole = lettersOf(texts.join('')) === lettersOf(result.text);
  if (!isWhole || starts.length !== texts.length || lengths.length !== texts.length) return undefined;
  let earliestMs = chunk.startMs;
  const within = (ms: number) => (earliestMs = Math.min(chunk.endMs, Math.max(earliestMs, Math.round(ms))));
  return texts
    .map((text, index) => {
      const startMs = within(chunk.windowStartMs + starts[index]! * 1000);
      const endMs = within(chunk.windowStartMs + (starts[index]! + lengths[index]!) * 1000);
      return { text: text.trim(), startMs, endMs };
    })
    .filter(({ text }) => text !== '');
}

const lettersOf = (text: string) => text.replace(/\s/g, '');

/** @returns a BCP 47 tag; undefined when the model does not say what was spoken */
export function languageIn({ lang }: OfflineResult): string | undefined {
  const code = /^(<\|)?([a-z]{2,3})(\|>)?$/.exec(lang)?.[2];
  return code === undefined ? undefined : canonicalTag(code);
}

/** The length of a token is rarely known. It lasts until the next token, but not longer than this. */
const longestTokenMs = 400;

/**
 * Joins tokens to words. A token that begins with a space (or SentencePiece's `▁`) begins a word; the others continue
 * it.
 * @param fromMs where the chunk begins that the times count from
 * @param toMs where the chunk ends
 * @throws {RecognizerError} there is text, but the model does not say when which word was heard
 */
export function wordsOf(result: OfflineResult, fromMs: number, toMs: number): Word[] {
  const hasTimes = result.tokens.length > 0 && result.timestamps.length === result.tokens.length;
  if (!hasTimes && result.text.trim() === '') return [];
  // Without words, speech would be taken for silence and not be charged.
  if (!hasTimes) {
    throw new RecognizerError('recognizer_error', 'the model gives text without its times', { retryable: false });
  }
  const tokens = charactersOf(tokensOf(result, fromMs));
  const startOf = (index: number) => Math.min(toMs, tokens[index]!.startMs);
  const endOf = (index: number) => {
    const nextMs = index + 1 < tokens.length ? startOf(index + 1) : toMs;
    return Math.max(startOf(index), Math.min(nextMs, startOf(index) + tokens[index]!.lengthMs));
  };

  const words: { startMs: number; endMs: number; text: string; logarithms: number[] }[] = [];
  tokens.forEach(({ text, logarithms }, index) => {
    const last = words.at(-1);
    const isCharacter = beginsWithCharacterWord(text) || (last !== undefined && beginsWithCharacterWord(last.text));
    const beginsWord = last === undefined || /^\s/.test(text) || isCharacter;
    const word = beginsWord ? { startMs: startOf(index), endMs: 0, text: '', logarithms: [] as number[] } : last;
    if (beginsWord) words.push(word);
    word.text += text.trim();
    word.endMs = endOf(index);
    word.logarithms.push(...logarithms);
  });
  return words
    .filter(({ text }) => text !== '')
    .map(({ startMs, endMs, text, logarithms: own }) => ({ startMs, endMs, text, ...confidenceOf(own) }));
}

interface Token {
  /** With a space before it where it begins a word. */
  text: string;
  startMs: number;
  lengthMs: number;
  /** Of its probabilities, where the model tells them. */
  logarithms: number[];
}

function tokensOf({ tokens, timestamps, durations, ys_log_probs: logarithms }: OfflineResult, fromMs: number): Token[] {
  const areLengthsKnown = durations.length === tokens.length;
  return tokens.map((token, index) => ({
    text: token.replaceAll('▁', ' '),
    startMs: fromMs + Math.round(timestamps[index]! * 1000),
    lengthMs: areLengthsKnown ? Math.round(durations[index]! * 1000) : longestTokenMs,
    logarithms: logarithms.length === tokens.length ? [logarithms[index]!] : [],
  }));
}

/** SentencePiece writes a character that is not in its vocabulary as the bytes of its UTF-8, a token each: `<0xC3>`. */
const byte = /^<0x([0-9A-F]{2})>$/;

function charactersOf(tokens: readonly Token[]): Token[] {
  const joined: (Token & { bytes?: number[] })[] = [];
  for (const token of tokens) {
    const value = byte.exec(token.text)?.[1];
    const last = joined.at(-1);
    if (value === undefined) joined.push(token);
    else if (last?.bytes === undefined) joined.push({ ...token, bytes: [parseInt(value, 16)] });
    else {
      last.bytes.push(parseInt(value, 16));
      last.lengthMs = token.startMs + token.lengthMs - last.startMs;
      last.logarithms = [...last.logarithms, ...token.logarithms];
    }
  }
  return joined.map(({ bytes, ...token }) =>
    bytes === undefined ? token : { ...token, text: Buffer.from(bytes).toString('utf8') },
  );
}

/** The probability of a word is the product of those of its tokens. */
function confidenceOf(logarithms: readonly number[]): { confidence?: number } {
  const confidence = Math.exp(logarithms.reduce((sum, logarithm) => sum + logarithm, 0));
  return logarithms.length > 0 && Number.isFinite(confidence) ? { confidence: Math.min(1, confidence) } : {};
}
