/** Which crashes a run has. */
import { randomOf } from '../rig/random.ts';
import { kinds } from './kinds.ts';
import type { PlannedRound } from './round.ts';

/**
 * Every kind equally often, what does not divide by chance; the longest first, so that lanes end together.
 *
 * @param only words that the names of the kinds have, none for all of them
 */
export function planRounds(rounds: number, seed: string, only: readonly string[]): PlannedRound[] {
  const wanted = kinds.filter(({ name }) => only.length === 0 || only.some((word) => name.includes(word)));
  const random = randomOf(`${seed}:plan`);
  const chosen = Array.from({ length: Math.floor(rounds / wanted.length) }, () => wanted).flat();
  const rest = [...wanted];
  while (chosen.length < rounds) chosen.push(...rest.splice(random.between(0, rest.length - 1), 1));
  return chosen.sort((a, b) => b.seconds - a.seconds).map((kind, index) => ({ number: index + 1, kind }));
}
