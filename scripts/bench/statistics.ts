/** Figures of several rounds. */
import type { Check, Setting } from './bench.ts';

/** By linear interpolation between the nearest two. @param q 0 to 1 */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (below === undefined || above === undefined) return NaN;
  return below + (above - below) * (at - Math.floor(at));
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Each value divided by the value of the same round, because what disturbs a round disturbs both. */
export const ratios = (ours: readonly number[], theirs: readonly number[]): number[] =>
  ours.map((value, round) => value / theirs[round]!);

/** Whether the median reaches the goal, and by how much it misses. */
export function verdictOn({ values, goal }: Check): string {
  if (goal === undefined) return '';
  const value = median(values);
  const [bound, sign] = 'atLeast' in goal ? [goal.atLeast, 1] : [goal.atMost, -1];
  if ((value - bound) * sign >= 0) return 'reached';
  // There are no percents of 0.
  const by = bound === 0 ? readable(value) : `${Math.max(1, Math.round(Math.abs(value / bound - 1) * 100))} %`;
  return `MISSED by ${by}`;
}

/** Three significant digits, without exponent. Whole numbers stay as they are. */
export function readable(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString('en');
  const magnitude = Math.abs(value);
  if (magnitude >= 1000) return Math.round(value).toLocaleString('en');
  return value.toFixed(magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2);
}

/**
 * Measures every contender once in each round, after rounds that don't count: other work on the machine then disturbs all alike. Each round begins with another contender,
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
