/** Interleaved rounds: other work on the machine then disturbs all contenders alike. */
import type { Setting } from './bench.ts';

/**
 * Measures every contender once in each round, after rounds that don't count. Each round begins with another contender,
 * so that no contender always follows the same one.
 *
 * @param warmUps how many rounds don't count; none in a tiny run, or when everything is warm already
 * @returns the figures of each contender, one for each round
 */
export async function interleaved<Figures extends Record<string, unknown>>(
  { signal, size }: Setting,
  rounds: number,
  contenders: { [Name in keyof Figures]: () => Promise<Figures[Name]> },
  warmUps = size === 'tiny' ? 0 : 1,
): Promise<{ [Name in keyof Figures]: Figures[Name][] }> {
  const names = Object.keys(contenders) as (keyof Figures)[];
  const figures = Object.fromEntries(names.map((name) => [name, []])) as unknown as {
    [Name in keyof Figures]: Figures[Name][];
  };
  for (let round = -warmUps; round < rounds; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      signal.throwIfAborted();
      const name = names[(turn + round + names.length) % names.length]!;
      const figure = await contenders[name]();
      if (round >= 0) figures[name].push(figure);
    }
  }
  return figures;
}
