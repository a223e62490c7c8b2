/** Interleaved rounds: whatever else the machine does meanwhile, it does to every contender. */
import type { Setting } from './bench.ts';

/**
 * Measures every contender once in each round, after a round that doesn't count. Each round begins with another
 * contender, so that none always follows the same one.
 *
 * @returns the figures of each contender, one for each round
 */
export async function interleaved<Name extends string, Figure>(
  { signal }: Setting,
  rounds: number,
  contenders: Record<Name, () => Promise<Figure>>,
): Promise<Record<Name, Figure[]>> {
  const names = Object.keys(contenders) as Name[];
  const figures = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Figure[]>;
  for (let round = -1; round < rounds; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      signal.throwIfAborted();
      const name = names[(turn + round + names.length) % names.length]!;
      const figure = await contenders[name]();
      if (round >= 0) figures[name].push(figure);
    }
  }
  return figures;
}
