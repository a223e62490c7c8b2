/** How much of a conversation was given to the wrong person. */
import { normalWords } from './normal-words.ts';
import { aligned } from './word-errors.ts';

/** Speech of one person without a stop; as recognized, `who` is the label of a speaker. Times in ms. */
export interface Said {
  who: string | undefined;
  text: string;
  startMs: number;
  endMs: number;
}

export interface Attribution {
  /** How many speakers were found. */
  found: number;
  /** Of the time with speech in which something was recognized, the share given to the wrong speaker. */
  wrongTime: number;
  /** Of all words that were said, the share that was recognized and given to the wrong speaker. */
  wrongPerson: number;
}

/** @param turns what was said, one after the other, and @param heard what was recognized, each in order of time */
export function compareSpeakers(turns: readonly Said[], heard: readonly Said[]): Attribution {
  const shared = sharedTime(turns, heard);
  // A label stands for the person with most of its time.
  const personOf = new Map<string | undefined, string>();
  for (const { label, who } of shared.toSorted((a, b) => b.ms - a.ms)) {
    if (label === undefined || personOf.has(label) || [...personOf.values()].includes(who!)) continue;
    personOf.set(label, who!);
  }
  const sum = (times: typeof shared) => times.reduce((total, { ms }) => total + ms, 0);
  const wrong = shared.filter(({ label, who }) => personOf.get(label) !== who);
  const [said, understood] = [wordsOf(turns), wordsOf(heard)];
  const pairs = aligned(
    said.map(({ word }) => word),
    understood.map(({ word }) => word),
  );
  const misplaced = pairs.filter(([one, other]) => {
    if (one === undefined || other === undefined || said[one]!.word !== understood[other]!.word) return false;
    return said[one]!.who !== personOf.get(understood[other]!.who);
  });
  return {
    found: new Set(heard.flatMap(({ who }) => who ?? [])).size,
    wrongTime: sum(wrong) / Math.max(1, sum(shared)),
    wrongPerson: misplaced.length / Math.max(1, said.length),
  };
}

/** How long each label stands where a person speaks. */
function sharedTime(turns: readonly Said[], heard: readonly Said[]) {
  const shared = new Map<string, { label: string | undefined; who: string | undefined; ms: number }>();
  for (const turn of turns) {
    for (const { who: label, startMs, endMs } of heard) {
      const ms = Math.min(turn.endMs, endMs) - Math.max(turn.startMs, startMs);
      if (ms <= 0) continue;
      const key = JSON.stringify([label, turn.who]);
      shared.set(key, { label, who: turn.who, ms: ms + (shared.get(key)?.ms ?? 0) });
    }
  }
  return [...shared.values()];
}

const wordsOf = (parts: readonly Said[]) =>
  parts.flatMap(({ who, text }) => normalWords(text).map((word) => ({ who, word })));
