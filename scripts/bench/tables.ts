/** A run as text: tables for a terminal, or the same in Markdown. */
import Table from 'cli-table3';
import { goalText, judge, readable, spreadOf } from './statistics.ts';
import type { Check, Run } from './bench.ts';

type Lay = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

export const inTerminal = (run: Run): string => describe(run, boxed, (title) => title);
export const inMarkdown = (run: Run): string => describe(run, piped, (title) => `### ${title}\n`);

function describe(run: Run, lay: Lay, title: (text: string) => string): string {
  const { name, size, date, machine, sizes, checks, figures } = run;
  const head = ['work', 'measure', 'median', 'min', 'max', 'goal', 'result'];
  const parts = [title(`${name}: goals`), lay(head, checks.map(rowOf))];
  for (const table of figures) parts.push(title(table.title), lay(table.head, table.rows.map(asText)));
  const facts = Object.entries({ ...machine, ...sizes, size, date });
  parts.push(title('Machine, versions, sizes'), lay(['what', ''], facts.map(asText)));
  return `${parts.join('\n')}\n`;
}

function rowOf(check: Check): string[] {
  const { median, min, max } = spreadOf(check.values);
  const unit = check.unit === undefined ? '' : ` ${check.unit}`;
  const spread = [`${readable(median)}${unit}`, readable(min), readable(max)];
  return [check.work, check.measure, ...spread, goalText(check.goal), judge(check)?.text ?? ''];
}

const asText = (row: readonly (string | number)[]) =>
  row.map((cell) => (typeof cell === 'number' ? readable(cell) : cell));

function boxed(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  table.push(...rows.map((row) => [...row]));
  return table.toString();
}

function piped(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return `${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n`;
}
