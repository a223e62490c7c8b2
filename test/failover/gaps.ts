import { until } from '../support/until.ts';

/**
 * The longest time in which nothing came, from `began` until now, in s.
 * @param times when it came (`performance.now()`)
 */
export function longestGap(times: readonly number[], began: number): number {
  const since = [began, ...times.filter((at) => at > began), performance.now()];
  return Math.max(...since.slice(1).map((at, index) => at - since[index]!)) / 1000;
}

/** Until something more came in each of these lists. */
export async function untilEachGrew(...lists: (readonly unknown[])[]): Promise<void> {
  const lengths = lists.map(({ length }) => length);
  await until(() => lists.every(({ length }, index) => length > lengths[index]!));
}
