/** Captions that nobody could read alone. */
import type { Word } from './segment.ts';

type Said = Word & { speaker?: string };

/** What is shown for less is gone before it is read. */
const shortestMs = 1_000;
/** Neighbours with a longer pause between them stay apart. */
const longestPauseMs = 1_500;

/** One word, or words that are gone at once. */
const isTiny = (caption: readonly Said[]): boolean =>
  caption.length === 1 || caption.at(-1)!.endMs - caption[0]!.startMs < shortestMs;

/**
 * Gives the words of tiny captions to the neighbour that is nearer, if it has room; else both share their words anew,
 * as evenly as can be.
 * @param fits whether words are not too many for a caption
 */
export function settled<W extends Said>(captions: readonly W[][], fits: (words: readonly W[]) => boolean): W[][] {
  const left = [...captions];
  const done: W[][] = [];
  while (left.length > 0) {
    const caption = left.shift()!;
    const [before, after] = [done.at(-1), left[0]];
    const pauses = [pauseBetween(before, caption), pauseBetween(caption, after)] as const;
    if (!isTiny(caption) || Math.min(...pauses) > longestPauseMs) {
      done.push(caption);
    } else if (pauses[0] <= pauses[1]) {
      done.splice(-1, 1, ...shared([...before!, ...caption], before!.length, fits));
    } else {
      const [first, second] = shared([...caption, ...after!], caption.length, fits);
      left.shift();
      // What was joined may be tiny still.
      if (second === undefined) left.unshift(first!);
      else done.push(first!, second);
    }
  }
  return done;
}

function pauseBetween(caption: readonly Said[] | undefined, next: readonly Said[] | undefined): number {
  const [last, first] = [caption?.at(-1), next?.[0]];
  if (last === undefined || first === undefined || last.speaker !== first.speaker) return Infinity;
  return first.startMs - last.endMs;
}

/** One caption if all fits; else two, of about the same number of words where none is tiny then. @param cut where it is now */
function shared<W extends Said>(words: readonly W[], cut: number, fits: (words: readonly W[]) => boolean): W[][] {
  if (fits(words)) return [[...words]];
  const inTwo = (place: number): [W[], W[]] => [words.slice(0, place), words.slice(place)];
  const places = words.slice(1).map((_, index) => index + 1);
  const better = places
    .filter((place) => inTwo(place).every((part) => fits(part) && !isTiny(part)))
    .toSorted((one, other) => Math.abs(2 * one - words.length) - Math.abs(2 * other - words.length))[0];
  return inTwo(better ?? cut);
}
