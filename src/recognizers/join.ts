import type { Piece } from '../audio/pieces.ts';
import type { Word } from '../captions/segment.ts';

/** What was recognized of one piece: words by utterance, with times from the start of the recording. */
export interface HeardPiece<W extends Word = Word> {
  /** As it was heard. The overlap with a neighbour may be smaller than it was cut. */
  piece: Piece;
  utterances: readonly (readonly W[])[];
}

/**
 * Joins pieces that were recognized on their own. Where two pieces heard the same stretch, the seam lies between words
 * of both. So no word is lost, doubled or cut in two.
 * @param heard in order of time
 */
export function joinPieces<W extends Word>(heard: readonly HeardPiece<W>[]): W[][] {
  const seams = heard.slice(1).map((right, index) => {
    const left = heard[index]!;
    const isShared = right.piece.windowStartMs < left.piece.windowEndMs;
    return isShared ? seamBetween(left, right) : undefined;
  });
  return heard.flatMap(({ utterances }, index) => {
    const fromMs = seams[index - 1] ?? -Infinity;
    const toMs = seams[index] ?? Infinity;
    const isOwn = (word: Word) => middleOf(word) >= fromMs && middleOf(word) < toMs;
    return utterances.map((words) => words.filter(isOwn)).filter((words) => words.length > 0);
  });
}

const middleOf = ({ startMs, endMs }: Word) => (startMs + endMs) / 2;

/**
 * The time nearest to the cut at which neither side is inside a word. A side that heard nothing beyond the cut knows no
 * whole word there and is not asked. Where there is no such time, the left side counts as far as it heard.
 */
function seamBetween(left: HeardPiece, right: HeardPiece): number {
  const cutMs = right.piece.startMs;
  const [fromMs, toMs] = [right.piece.windowStartMs, left.piece.windowEndMs];
  const isNear = ({ startMs, endMs }: Word) => endMs > fromMs && startMs < toMs;
  const leftWords = toMs > cutMs ? left.utterances.flat() : [];
  const rightWords = fromMs < cutMs ? right.utterances.flat() : [];
  const words = [...leftWords, ...rightWords].filter(isNear);
  const isFree = (ms: number) => ms >= fromMs && ms <= toMs && !words.some((w) => w.startMs < ms && ms < w.endMs);
  const candidates = [cutMs, ...words.flatMap(({ startMs, endMs }) => [startMs, endMs])].filter(isFree);
  const distance = (ms: number) => Math.abs(ms - cutMs);
  return candidates.reduce((best, ms) => (distance(ms) < distance(best) ? ms : best), candidates[0] ?? toMs);
}
