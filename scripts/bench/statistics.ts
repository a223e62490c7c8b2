/** Figures of several rounds. */
import type { Check, Goal } from './bench.ts';

export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), min: Math.min(...values), max: Math.max(...values) };
}

/** By linear interpolation between the nearest two. @param q 0 to 1 */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (below === undefined || above === undefined) return NaN;
  return below + (above - below) * (at - Math.floor(at));
}

/** Each value divided by the value of the same round, because what disturbs a round disturbs both. */
export const ratios = (ours: readonly number[], theirs: readonly number[]): number[] =>
  ours.map((value, round) => value / theirs[round]!);

export type Verdict = { met: boolean; text: string };

/** Whether the median reaches the goal, and by how much it misses. */
export function judge({ values, goal }: Pick<Check, 'values' | 'goal'>): Verdict | undefined {
  if (goal === undefined) return undefined;
  const { median } = spreadOf(values);
  const [bound, sign] = 'atLeast' in goal ? [goal.atLeast, 1] : [goal.atMost, -1];
  if ((median - bound) * sign < 0) return { met: false, text: `MISSED by ${percent(median, bound)}` };
  const { aim } = goal;
  if (aim === undefined) return { met: true, text: 'reached' };
  const isAimMet = (median - aim) * sign >= 0;
  return { met: true, text: isAimMet ? 'reached, and the aim' : `reached; ${percent(median, aim)} short of the aim` };
}

/** There are no percents of 0. */
const percent = (value: number, bound: number) =>
  bound === 0 ? readable(value) : `${Math.max(1, Math.round(Math.abs(value / bound - 1) * 100))} %`;

export function goalText(goal: Goal | undefined): string {
  if (goal === undefined) return '';
  const bound = 'atLeast' in goal ? `≥ ${readable(goal.atLeast)}` : `≤ ${readable(goal.atMost)}`;
  return goal.aim === undefined ? bound : `${bound} (aim ${readable(goal.aim)})`;
}

/** Three significant digits, without exponent. Whole numbers stay as they are. */
export function readable(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString('en');
  const magnitude = Math.abs(value);
  if (magnitude >= 1000) return Math.round(value).toLocaleString('en');
  return value.toFixed(magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2);
}
