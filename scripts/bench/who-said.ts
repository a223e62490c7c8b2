/** How much of a meeting was given to the wrong person. */
import { totalMs, without } from '../../src/audio/spans.ts';
import { normalWords } from './normal-words.ts';
import { wordsInCommon } from './same-words.ts';

/** What somebody says without a stop; as it was heard, `who` is the label of a speaker. Times in ms. */
export interface Said {
  who: string | undefined;
  text: string;
  startMs: number;
  endMs: number;
}

export interface Attribution {
  /** How many speakers were found. */
  found: number;
  /** Of the time in which one person speaks and something was heard, the share that another one got. */
  wrongTime: number;
  /** Of all words that were said, the share that was heard right and given to another one. */
  wrongPerson: number;
}

/** @param turns what was said, and @param heard what was heard, each in order of time */
export function compareSpeakers(turns: readonly Said[], heard: readonly Said[]): Attribution {
  const shared = sharedTime(turns, heard);
  const personOf = new Map<string | undefined, string>();
  for (const { label, who } of shared.toSorted((a, b) => b.ms - a.ms))
    if (label !== undefined && !personOf.has(label) && ![...personOf.values()].includes(who)) personOf.set(label, who);
  const sum = (times: typeof shared) => times.reduce((total, { ms }) => total + ms, 0);
  const wrong = shared.filter(({ label, who }) => personOf.get(label) !== who);
  const [said, understood] = [wordsOf(turns), wordsOf(heard)];
  const common = wordsInCommon(
    said.map(({ word }) => word),
    understood.map(({ word }) => word),
  );
  const misplaced = common.filter(([one, other]) => said[one]!.who !== personOf.get(understood[other]!.who));
  return {
    found: new Set(heard.flatMap(({ who }) => who ?? [])).size,
    wrongTime: sum(wrong) / Math.max(1, sum(shared)),
    wrongPerson: misplaced.length / Math.max(1, said.length),
  };
}

/** How long each label stands where a person speaks alone. */
function sharedTime(turns: readonly Said[], heard: readonly Said[]): { label?: string; who: string; ms: number }[] {
  const shared = new Map<string, { label?: string; who: string; ms: number }>();
  for (const turn of turns) {
    const others = turns.filter(({ who, startMs, endMs }) => who !== turn.who && startMs < turn.endMs && endMs > turn.startMs); // prettier-ignore
    const alone = without([turn], others);
    for (const { who: label, ...span } of heard) {
      const ms = totalMs(alone) - totalMs(without(alone, [span]));
      if (ms === 0) continue;
      const key = JSON.stringify([label, turn.who]);
      const before = shared.get(key)?.ms ?? 0;
      shared.set(key, { ...(label !== undefined && { label }), who: turn.who!, ms: before + ms });
    }
  }
  return [...shared.values()];
}

const wordsOf = (parts: readonly Said[]) =>
  parts.flatMap(({ who, text }) => normalWords(text).map((word) => ({ who, word })));
