/** A run as tables for a terminal. */
import Table from 'cli-table3';
import { median, readable, verdictOn } from './statistics.ts';
import type { Check, Run } from './bench.ts';

export function inTerminal({ name, size, date, machine, sizes, checks, figures }: Run): string {
  const head = ['work', 'measure', 'median', 'min', 'max', 'goal', 'result'];
  const parts = [`${name}: goals`, boxed(head, checks.map(rowOf))];
  for (const { title, head, rows } of figures) parts.push(title, boxed(head, rows));
  const facts = Object.entries({ ...machine, ...sizes, size, date });
  parts.push('Machine, sizes', boxed(['what', ''], facts));
  return `${parts.join('\n')}\n`;
}

function rowOf(check: Check): string[] {
  const { work, measure, values, unit = '', goal } = check;
  const spread = [`${readable(median(values))} ${unit}`, readable(Math.min(...values)), readable(Math.max(...values))];
  const bound =
    goal === undefined ? '' : 'atLeast' in goal ? `≥ ${readable(goal.atLeast)}` : `≤ ${readable(goal.atMost)}`;
  return [work, measure, ...spread, bound, verdictOn(check)];
}

function boxed(head: string[], rows: (string | number)[][]): string {
  const table = new Table({ head, style: { head: [], border: [] } });
  table.push(...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? readable(cell) : cell))));
  return table.toString();
}
