import type { Chunk } from '../audio/chunks.ts';
import type { Word } from '../captions/segment.ts';

/** What was recognized of one chunk: words by utterance, with times from the start of the recording. */
export interface TranscribedChunk<W extends Word = Word> {
  /** As it was heard. The overlap with a neighbour may be smaller than it was cut. */
  chunk: Chunk;
  utterances: readonly (readonly W[])[];
}

/**
 * Joins chunks that were recognized on their own. Where two chunks heard the same stretch, the seam lies behind words that
 * both heard, or else between words of both. So no word is lost, doubled or cut in two.
 * @param heard in order of time
 * @param areTimesRough Whisper's may be a second off. Where two chunks have no word in common, all of both stays then.
 */
export function joinChunks<W extends Word>(heard: readonly TranscribedChunk<W>[], areTimesRough = false): W[][] {
  const seams = heard.slice(1).map((right, index) => seamBetween(heard[index]!, right, areTimesRough));
  let endMs = 0;
  return heard.flatMap(({ utterances }, index) => {
    const [from, to] = [seams[index - 1]?.from ?? 0, seams[index]?.to ?? Infinity];
    let place = -1;
    const isOwn = () => (place += 1) >= from && place < to;
    // In order of time, too, where the neighbour's times were other ones.
    const beginMs = endMs;
    const own = utterances.map((words) => words.filter(isOwn).map((word) => notBefore(beginMs, word)));
    endMs = own.flat().reduce((last, word) => Math.max(last, word.endMs), beginMs);
    return own.filter((words) => words.length > 0);
  });
}

const notBefore = <W extends Word>(ms: number, word: W): W =>
  word.startMs >= ms ? word : { ...word, startMs: ms, endMs: Math.max(ms, word.endMs) };

/** Before which of its words the left side ends, and from which one the right side begins. */
interface Seam {
  to: number;
  from: number;
}

const everything: Seam = { to: Infinity, from: 0 };

function seamBetween(left: TranscribedChunk, right: TranscribedChunk, areTimesRough: boolean): Seam {
  const [fromMs, toMs] = [right.chunk.windowStartMs, left.chunk.windowEndMs];
  if (fromMs >= toMs) return everything;
  const [before, after] = [left.utterances.flat(), right.utterances.flat()];
  return seamByText(before, after, [fromMs, toMs]) ?? (areTimesRough ? everything : seamByTime(left, right));
}

interface Placed {
  text: string;
  place: number;
  middleMs: number;
}

/**
 * Behind the longest run of words that both sides heard; undefined when they have no word in common. Two words of the same
 * text are one where neither side has a nearer one, and no more than half of what both hear lies between them. So where
 * both heard rightly, a word that only one of them could hear is never taken for another one, however often it is said.
 */
function seamByText(
  before: readonly Word[],
  after: readonly Word[],
  [fromMs, toMs]: [number, number],
): Seam | undefined {
  const mostApartMs = (toMs - fromMs) / 2;
  const isNear = ({ startMs, endMs }: Word) => endMs > fromMs - mostApartMs && startMs < toMs + mostApartMs;
  const placed = (words: readonly Word[]): Placed[] =>
    words
      .map((word, place) => ({ word, text: plain(word.text), place, middleMs: middleOf(word) }))
      .filter(({ word, text }) => text !== '' && isNear(word));
  const [ours, theirs] = [placed(before), placed(after)];
  let best: (Seam & { run: number; apartMs: number }) | undefined;
  let [run, last] = [0, -1];
  for (const one of ours) {
    const index = nearest(one, theirs);
    const other = theirs[index];
    const apartMs = other === undefined ? Infinity : Math.abs(other.middleMs - one.middleMs);
    const isSame = apartMs <= mostApartMs && ours[nearest(other!, ours)] === one;
    run = isSame ? (index === last + 1 ? run + 1 : 1) : 0;
    last = isSame ? index : -1;
    if (run === 0 || (best !== undefined && (run < best.run || (run === best.run && apartMs >= best.apartMs))))
      continue;
    best = { to: one.place + 1, from: other!.place + 1, run, apartMs };
  }
  return best;
}

/** Which of some words is nearest in time to one of the same text; -1 where there is none. */
function nearest({ text, middleMs }: Placed, words: readonly Placed[]): number {
  let [best, leastMs] = [-1, Infinity];
  for (let index = 0; index < words.length; index += 1) {
    const other = words[index]!;
    const apartMs = Math.abs(other.middleMs - middleMs);
    if (other.text === text && apartMs < leastMs) [best, leastMs] = [index, apartMs];
  }
  return best;
}

const plain = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
const middleOf = ({ startMs, endMs }: Word) => (startMs + endMs) / 2;

/**
 * At the time nearest to the cut at which neither side is inside a word. A side that heard nothing beyond the cut knows no
 * whole word there and is not asked. Where there is no such time, the left side counts as far as it heard.
 */
function seamByTime(left: TranscribedChunk, right: TranscribedChunk): Seam {
  const cutMs = right.chunk.startMs;
  const [fromMs, toMs] = [right.chunk.windowStartMs, left.chunk.windowEndMs];
  const isNear = ({ startMs, endMs }: Word) => endMs > fromMs && startMs < toMs;
  const leftWords = toMs > cutMs ? left.utterances.flat() : [];
  const rightWords = fromMs < cutMs ? right.utterances.flat() : [];
  const words = [...leftWords, ...rightWords].filter(isNear);
  const isFree = (ms: number) => ms >= fromMs && ms <= toMs && !words.some((w) => w.startMs < ms && ms < w.endMs);
  const candidates = [cutMs, ...words.flatMap(({ startMs, endMs }) => [startMs, endMs])].filter(isFree);
  const distance = (ms: number) => Math.abs(ms - cutMs);
  const seamMs = candidates.reduce((best, ms) => (distance(ms) < distance(best) ? ms : best), candidates[0] ?? toMs);
  const firstFrom = (words: readonly Word[]) => {
    const index = words.findIndex((word) => middleOf(word) >= seamMs);
    return index < 0 ? words.length : index;
  };
  return { to: firstFrom(left.utterances.flat()), from: firstFrom(right.utterances.flat()) };
}
