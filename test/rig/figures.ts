/** The figures of a run: for eyes and for programs. */
import { table } from '../../scripts/terminal/table.ts';

/**
 * A row for each of `figures`, with its kind in the first column.
 * @param titles of the other columns, by the names of their numbers
 */
export function figuresTable<Name extends string>(
  first: string,
  titles: Record<Name, string>,
  figures: readonly (NoInfer<Record<Name, number>> & { kind: string })[],
): string {
  const names = Object.keys(titles) as Name[];
  const columns = names.map((name) => ({ head: titles[name], align: 'right' as const }));
  const rows = figures.map((one) => [one.kind, ...names.map((name) => String(one[name]))]);
  return table([{ head: first }, ...columns], rows, 'Nothing was run.');
}

export function medianAndMost(seconds: readonly number[]): { medianSeconds: number; maxSeconds: number } {
  const sorted = [...seconds].sort((a, b) => a - b);
  return { medianSeconds: rounded(sorted[Math.floor(sorted.length / 2)]), maxSeconds: rounded(sorted.at(-1)) };
}

export const rounded = (seconds = 0): number => Math.round(seconds * 10) / 10;
