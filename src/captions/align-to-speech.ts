/**
 * Times for a text of which only the speech is known in which it was said. Words and stretches of speech are two ordered
 * sequences: each stretch gets words that take about as long as it lasts, at the rate of this speaker, and ends where
 * speakers pause.
 */
import { breathAfter, lettersOf } from './breaths.ts';
import { sumsOf } from './cuts.ts';
import type { Breath } from './breaths.ts';
import type { WrittenWord } from './lines.ts';
import type { Word } from './segment.ts';

export type Stretch = Pick<Word, 'startMs' | 'endMs'>;

/**
 * The numbers here were chosen by the times of words in readings, a lecture with long pauses and a meeting, as Moonshine
 * tiny heard them. Near them the result hardly changes.
 */
/** The last word before a pause is drawn out by the time of a letter. */
const drawnOut = 1;
/** How far the length of a stretch usually is from that of its words, however many these are, and for each word more. */
const [offMs, offPerWordMs] = [120, 250];

/** How unlikely a pause is behind a word, for each second of it more or less, and that there is none. */
const unlikely: Record<Breath, { pause: number; perSecond: number; none: number }> = {
  sentence: { pause: 0, perSecond: -0.6, none: 1 },
  clause: { pause: 0.3, perSecond: 0.6, none: 0.5 },
  phrase: { pause: 1, perSecond: 0.8, none: 0 },
  none: { pause: 2, perSecond: 1, none: 0 },
};
const mostSeconds = 3;

/** So many words from where it would be if all was said equally quickly, no stretch ends. It bounds the work. */
const mostWordsOff = 100;

/**
 * Aligns words with the stretches of speech.
 * @param stretches in order, none touching another; at least one
 * @returns the time of each word, within one stretch
 */
export function alignToSpeech(words: readonly WrittenWord[], stretches: readonly Stretch[]): Stretch[] {
  const ends = endsOfStretches(words, stretches);
  return stretches.flatMap(({ startMs, endMs }, index) => {
    const letters = words.slice(ends[index - 1] ?? 0, ends[index]).map(({ text }) => lettersOf(text));
    if (letters.length > 0 && index + 1 < stretches.length) letters[letters.length - 1]! += drawnOut;
    const msPerLetter = (endMs - startMs) / sumsOf(letters).at(-1)!;
    let before = 0;
    return letters.map((length) => {
      const from = before;
      before += length;
      return { startMs: startMs + from * msPerLetter, endMs: startMs + before * msPerLetter };
    });
  });
}

const lengthOf = ({ startMs, endMs }: Stretch) => endMs - startMs;

/** Of all ways to share the words among the stretches, the likeliest. @returns how many words have ended with each stretch */
function endsOfStretches(words: readonly WrittenWord[], stretches: readonly Stretch[]): number[] {
  const breaths = words.map(({ text }, index) => unlikely[breathAfter(text, words[index + 1]?.text)]);
  const letters = sumsOf(words.map(({ text }) => lettersOf(text)));
  const unpaused = sumsOf(breaths.map(({ none }) => none));
  const all = letters.at(-1)!;
  const wholeMs = sumsOf(stretches.map(lengthOf)).at(-1)!;
  const msPerLetter = wholeMs / (all + drawnOut * (stretches.length - 1));

  /** The cost of the likeliest way, by how many words have ended so far; and with how many its last stretch began. */
  let costs = new Map([[0, 0]]);
  const begins: Map<number, number>[] = [];
  let [even, spokenMs] = [0, 0];
  for (const [index, stretch] of stretches.entries()) {
    const next = stretches[index + 1];
    spokenMs += lengthOf(stretch);
    while (even < words.length && !(letters[even]! / all >= spokenMs / wholeMs)) even += 1;
    const seconds = next === undefined ? 0 : Math.min(mostSeconds, (next.startMs - stretch.endMs) / 1000);
    const [earlier, begin] = [costs, new Map<number, number>()];
    costs = new Map();
    begins.push(begin);
    const latest = Math.min(words.length, even + mostWordsOff);
    for (let end = next === undefined ? latest : Math.max(0, even - mostWordsOff); end <= latest; end += 1) {
      const breath = end === 0 || end === words.length ? undefined : breaths[end - 1];
      const pause = breath === undefined ? 0 : breath.pause + breath.perSecond * seconds - breath.none;
      for (const [start, cost] of earlier) {
        if (start > end) break;
        const expectedMs = (letters[end]! - letters[start]! + (start < end ? drawnOut : 0)) * msPerLetter;
        const off = (lengthOf(stretch) - expectedMs) / Math.sqrt(offMs ** 2 + (end - start) * offPerWordMs ** 2);
        // A large difference counts less than by its square: words may be left out, or made up.
        const whole = cost + pause + unpaused[end]! - unpaused[start]! + 2 * (Math.sqrt(1 + off ** 2) - 1);
        if (whole >= (costs.get(end) ?? Infinity)) continue;
        costs.set(end, whole);
        begin.set(end, start);
      }
    }
  }
  const ends = [words.length];
  for (const begin of begins.slice(1).reverse()) ends.unshift(begin.get(ends[0]!)!);
  return ends;
}
