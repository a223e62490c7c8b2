/** What people see. */
import Table from 'cli-table3';

/** Its head; with a `width`, longer texts are cut. */
export type Column = string | { head: string; width?: number; align?: 'right' };

const noLines = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
    .map((name) => [name, '']),
);
const style = { 'padding-left': 0, 'padding-right': 2, head: [], border: [] };

/** Rows below a head, for terminals of 100 columns; `nothing` in place of an empty table. */
export function table(columns: readonly Column[], rows: readonly string[][], nothing: string): string {
  if (rows.length === 0) return nothing;
  const named = columns.map((column) => (typeof column === 'string' ? { head: column } : column));
  const lines = new Table({
    head: named.map(({ head }) => head.toUpperCase()),
    colWidths: named.map(({ width }) => (width === undefined ? null : width + 2)),
    colAligns: named.map(({ align }) => align ?? 'left'),
    chars: noLines,
    style,
  });
  lines.push(...rows);
  return withoutTrailingSpaces(lines.toString());
}

/** For numbers. */
export const right = (head: string, width?: number): Column => ({ head, align: 'right', ...(width && { width }) });

/** Names and values, one to a line; those without a value are left out. */
export function details(entries: Record<string, string | undefined>): string {
  const lines = new Table({ chars: noLines, style });
  for (const [name, value] of Object.entries(entries)) if (value !== undefined) lines.push([name, value]);
  return withoutTrailingSpaces(lines.toString());
}

const withoutTrailingSpaces = (lines: string) => lines.replace(/ +$/gm, '');

/** `2026-11-20 09:30`, UTC, of PostgreSQL's text or of RFC 3339. */
export const minuteOf = (time: string): string => time.slice(0, 16).replace('T', ' ');

/** `2026-11-20 09:30:00 UTC` of PostgreSQL's text, or of nothing. */
export const momentOf = (time: string | null): string | undefined =>
  time === null ? undefined : `${time.slice(0, 19)} UTC`;

/** `3 sessions`, `1 session`. */
export const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;
