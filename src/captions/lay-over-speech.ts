/** Times for a text of which only the speech is known in which it was said: speakers pause where sentences end. */
import { endsClause, endsSentence } from './cuts.ts';
import type { WrittenWord } from './lines.ts';

export interface Stretch {
  startMs: number;
  endMs: number;
}

/**
 * What it is worth to draw the end of a sentence to a pause: the pause's length and this, less how far the pause is from
 * where the end would be without it. The end of a clause counts half. Chosen by 58 starts of captions in eight
 * recordings, heard with Moonshine tiny and compared with Whisper's alignment of words: they were off by 0.25 s in the
 * median and 0.83 s at nine of ten, where text that shares the time of its piece is off by 0.45 and 1.24 s.
 */
const anyPauseMs = 200;
/** So much is the longest pause worth. No end is drawn further. */
const mostWorthMs = 2_200;

/** Within a word there is no longer pause, even where its place is uncertain. */
const longPauseMs = 1_000;

/** A place in the text that lies at a place in the speech. */
interface Anchor {
  /** In voiced ms, if all was said equally quickly. */
  evenMs: number;
  /** In voiced ms. */
  voicedMs: number;
}

/** Anchors in order, the last one first. */
interface Chain {
  worth: number;
  anchor: Anchor;
  before: Chain | undefined;
}

/**
 * Lays words over the stretches in which somebody speaks, by their letters. The ends of sentences and clauses are drawn
 * to pauses near them: of all ways to do so the one of most worth is taken.
 * @param spoken in order, none touching another; at least one
 * @returns the time of each word, within one stretch
 */
export function layOverSpeech(words: readonly WrittenWord[], spoken: readonly Stretch[]): Stretch[] {
  const wholeMs = spoken.reduce((sum, stretch) => sum + lengthOf(stretch), 0);
  const letters = words.reduce((sum, word) => sum + lettersOf(word), 0);
  let [before, next] = [0, 0];
  const even = words.map((word) => {
    const startMs = (before / letters) * wholeMs;
    before += lettersOf(word);
    return { startMs, endMs: (before / letters) * wholeMs };
  });
  const anchors = [...drawnTo(pausesOf(spoken), words, even), { evenMs: wholeMs, voicedMs: wholeMs }];
  let left: Anchor = { evenMs: 0, voicedMs: 0 };
  const placeOf = (evenMs: number) => {
    while (anchors[next]!.evenMs < evenMs && next + 1 < anchors.length) left = anchors[next++]!;
    const right = anchors[next]!;
    const share = right.evenMs > left.evenMs ? (evenMs - left.evenMs) / (right.evenMs - left.evenMs) : 1;
    return left.voicedMs + share * (right.voicedMs - left.voicedMs);
  };
  const timeOf = timesWithin(spoken);
  let startMs = 0;
  return even.map((word) => {
    const place = { startMs, endMs: placeOf(word.endMs) };
    startMs = place.endMs;
    return timeOf(place);
  });
}

const lengthOf = ({ startMs, endMs }: Stretch) => endMs - startMs;
/** Spaces and punctuation take no time. A sign that is read, such as `&`, takes about as much as a letter. */
const lettersOf = ({ text }: WrittenWord) => Math.max(1, text.replace(/[^\p{L}\p{M}\p{N}]/gu, '').length);

interface Pause {
  voicedMs: number;
  lengthMs: number;
}

function pausesOf(spoken: readonly Stretch[]): Pause[] {
  let voicedMs = 0;
  return spoken.slice(1).map((stretch, index) => {
    voicedMs += lengthOf(spoken[index]!);
    return { voicedMs, lengthMs: stretch.startMs - spoken[index]!.endMs };
  });
}

/** Which ends of sentences and clauses lie at pauses; in order. */
function drawnTo(pauses: readonly Pause[], words: readonly WrittenWord[], even: readonly Stretch[]): Anchor[] {
  // The best chain among the first pauses, by how many these are.
  const best = new Array<Chain | undefined>(pauses.length + 1).fill(undefined);
  let nearest = 0;
  words.slice(0, -1).forEach(({ text }, index) => {
    const weight = endsSentence(text, words[index + 1]!.text) ? 1 : endsClause(text) ? 0.5 : 0;
    if (weight === 0) return;
    const evenMs = even[index]!.endMs;
    while (nearest < pauses.length && pauses[nearest]!.voicedMs <= evenMs - mostWorthMs) nearest += 1;
    // An end lies at one pause only, so all its chains are found before any of them counts.
    const chains: [number, Chain][] = [];
    for (let count = nearest; count < pauses.length && pauses[count]!.voicedMs < evenMs + mostWorthMs; count += 1) {
      const { voicedMs, lengthMs } = pauses[count]!;
      const worth = weight * Math.min(mostWorthMs, anyPauseMs + lengthMs) - Math.abs(voicedMs - evenMs);
      const before = best[count];
      if (worth > 0)
        chains.push([count, { worth: (before?.worth ?? 0) + worth, anchor: { evenMs, voicedMs }, before }]);
    }
    for (const [count, chain] of chains)
      for (let more = count + 1; more < best.length && (best[more]?.worth ?? 0) < chain.worth; more += 1)
        best[more] = chain;
  });
  const anchors: Anchor[] = [];
  for (let chain = best.at(-1); chain !== undefined; chain = chain.before) anchors.unshift(chain.anchor);
  return anchors;
}

/** @returns the time of a stretch of voiced ms, one after the other; within one stretch, where a pause is long */
function timesWithin(spoken: readonly Stretch[]) {
  let [first, firstMs] = [0, 0];
  return ({ startMs, endMs }: Stretch): Stretch => {
    while (first + 1 < spoken.length && firstMs + lengthOf(spoken[first]!) <= startMs) {
      firstMs += lengthOf(spoken[first]!);
      first += 1;
    }
    const parts: Stretch[] = [];
    for (
      let [index, fromMs] = [first, firstMs];
      index < spoken.length && (fromMs < endMs || index === first);
      index += 1
    ) {
      const { startMs: spokenFromMs, endMs: spokenToMs } = spoken[index]!;
      const laterMs = spokenFromMs - fromMs;
      const part = { startMs: Math.max(spokenFromMs, startMs + laterMs), endMs: Math.min(spokenToMs, endMs + laterMs) };
      const last = parts.at(-1);
      if (last !== undefined && part.startMs - last.endMs < longPauseMs) last.endMs = part.endMs;
      else parts.push(part);
      fromMs += spokenToMs - spokenFromMs;
    }
    return parts.reduce((longest, part) => (lengthOf(part) > lengthOf(longest) ? part : longest));
  };
}
