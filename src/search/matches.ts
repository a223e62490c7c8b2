/** Which segments of a transcript hold what was asked for. */
import type { Passage } from '../../db/search/passages.ts';
import type { Condition, Step, Term } from './conditions.ts';

/**
 * For each segment that holds any of the conditions' words or phrases, which of them. A phrase is where it begins.
 * @param passages with the query's lexemes only: `'lexeme':1A,5A …`
 */
export function findMatches(
  conditions: readonly Condition[],
  passages: readonly Passage[],
): Map<number, Set<Condition>> {
  const matches = new Map<number, Set<Condition>>();
  for (const passage of passages) {
    const positions = readPositions(passage.words);
    for (const condition of conditions) {
      for (const position of condition.ways.flatMap((way) => occurrences(way, positions))) {
        const within = passage.starts.findLastIndex((start) => start <= position);
        // What lies before every segment is the title.
        if (within === -1) continue;
        const segment = passage.firstSegment + within;
        matches.set(segment, (matches.get(segment) ?? new Set()).add(condition));
      }
    }
  }
  return matches;
}

/** The segments that hold most of the query; of equal ones the first. In their order. */
export function bestOf(matches: ReadonlyMap<number, ReadonlySet<Condition>>, count: number): number[] {
  return [...matches]
    .sort(([a, ofA], [b, ofB]) => ofB.size - ofA.size || a - b)
    .slice(0, count)
    .map(([segment]) => segment)
    .sort((a, b) => a - b);
}

type Positions = ReadonlyMap<string, readonly number[]>;

function readPositions(words: string): Positions {
  const entries = words.matchAll(/'([^']*)':([\dA,]+)/g);
  return new Map(
    [...entries].map(([, lexeme, positions]) => [
      lexeme!,
      positions!.split(',').map((position) => Number.parseInt(position)),
    ]),
  );
}

function occurrences(way: readonly Step[], positions: Positions): number[] {
  const [first, ...others] = way.map(({ terms, distance }) => ({ distance, at: positionsOf(terms, positions) }));
  return [...first!.at].filter((position) => {
    let expected = position;
    return others.every(({ distance = 0, at }) => at.has((expected += distance)));
  });
}

function positionsOf(terms: readonly Term[], positions: Positions): Set<number> {
  const found = terms.flatMap(({ lexeme, isBeginning }) =>
    isBeginning
      ? [...positions].flatMap(([other, at]) => (other.startsWith(lexeme) ? at : []))
      : (positions.get(lexeme) ?? []),
  );
  return new Set(found);
}
