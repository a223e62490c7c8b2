/** What happens to a machine of the fleet while clients work: the ways, and which of them a run has. */
import { randomOf } from '../rig/random.ts';
import type { Random } from '../rig/random.ts';

export const targets = ['API node', 'worker', 'store', 'database'] as const;
export const ways = ['cut off', 'frozen', 'killed'] as const;

export interface Fault {
  number: number;
  target: (typeof targets)[number];
  way: (typeof ways)[number];
  /** Which of the machines of that kind. */
  machine: number;
  /** How long it is away. A worker may be away until its jobs were given to the other one. */
  away: number | 'until its jobs were given away';
}

export const kindOf = ({ target, way }: Fault): string => `${target} ${way}`;

/** Longer than every limit for an answer within the service. */
const longestMs = 9_000;
const shortestMs = 500;

/**
 * Every kind equally often. One kind comes after the other, so that nothing meets the same fault twice in a row.
 *
 * @param each faults of each kind
 */
export function planFaults(each: number, seed: string): Fault[] {
  const random = randomOf(`${seed}:faults`);
  return Array.from(
    { length: each },
    (_, round) =>
    shuffled(random, ways.flatMap((way) => targets.map((target) => ({ way, target })))) // prettier-ignore
      .map(({ way, target }) => ({ way, target, machine: random.between(0, 1), away: howLong(random, target, way, round) })), // prettier-ignore
  )
    .flat()
    .map((fault, index) => ({ number: index + 1, ...fault }));
}

/** A killed worker comes back at once or later. One that only stood still must come back after it lost its jobs, too. */
function howLong(random: Random, target: Fault['target'], way: Fault['way'], round: number): Fault['away'] {
  const ms = random.between(shortestMs, longestMs);
  return target === 'worker' && way !== 'killed' && round % 3 === 0 ? 'until its jobs were given away' : ms;
}

function shuffled<T>(random: Random, all: readonly T[]): T[] {
  const left = [...all];
  return all.map(() => left.splice(random.between(0, left.length - 1), 1)[0]!);
}
