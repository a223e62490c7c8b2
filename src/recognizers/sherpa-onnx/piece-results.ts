/** What a model heard in a piece, with times from the start of the recording. */
import { canonicalTag } from '../../languages/tags.ts';
import { wordsOf } from './words.ts';
import type { Piece } from '../../audio/pieces.ts';
import type { Word } from '../../captions/segment.ts';
import type { PieceResult } from './messages.ts';
import type { ModelFamily } from './model-families.ts';

/**
 * @returns words where the model tells their times; otherwise texts, one for each sentence if it tells the times of
 *   these, or one for the whole piece
 * @throws {RecognizerError} there is no time where the model should tell one
 */
export function wordsIn(result: PieceResult, piece: Piece, { times }: ModelFamily): Word[] {
  if (times === 'words') return wordsOf(result, piece.windowStartMs, piece.windowEndMs);
  const text = result.text.trim();
  if (text === '') return [];
  const sentences = times === 'segments' ? sentencesOf(result, piece) : undefined;
  return sentences ?? [{ text, startMs: piece.startMs, endMs: piece.endMs }];
}

/** @returns undefined when they are not the whole text */
function sentencesOf(result: PieceResult, piece: Piece): Word[] | undefined {
  const { segment_texts: texts = [], segment_timestamps: starts = [], segment_durations: lengths = [] } = result;
  const isWhole = lettersOf(texts.join('')) === lettersOf(result.text);
  if (!isWhole || starts.length !== texts.length || lengths.length !== texts.length) return undefined;
  let earliestMs = piece.startMs;
  const within = (ms: number) => (earliestMs = Math.min(piece.endMs, Math.max(earliestMs, Math.round(ms))));
  return texts
    .map((text, index) => {
      const startMs = within(piece.windowStartMs + starts[index]! * 1000);
      const endMs = within(piece.windowStartMs + (starts[index]! + lengths[index]!) * 1000);
      return { text: text.trim(), startMs, endMs };
    })
    .filter(({ text }) => text !== '');
}

const lettersOf = (text: string) => text.replace(/\s/g, '');

/** @returns a BCP 47 tag; undefined when the model does not say what was spoken */
export function languageIn({ lang }: PieceResult): string | undefined {
  const code = /^(<\|)?([a-z]{2,3})(\|>)?$/.exec(lang)?.[2];
  return code === undefined ? undefined : canonicalTag(code);
}
