/** How `usage` is printed: for people, for programs and for spreadsheets. */
import { rfc3339 } from '../../db/connection/values.ts';
import { nameOf } from './account-view.ts';
import { formatDuration } from './durations.ts';
import { csvLine } from '../terminal/csv.ts';
import { count, minuteOf, table } from '../terminal/table.ts';
import type { AccountSum, Charge } from '../../db/accounts/charges.ts';
import type { Column } from '../terminal/table.ts';

export interface Total {
  /** Undefined: all of them. */
  account: string | undefined;
  month: string;
  sessions: number;
  chargedMs: number;
}

/** The pieces of an answer: before the rows, for each page of them, and after them. */
export interface Form<Row> {
  head(total: Total): string;
  page(rows: Row[], isFirst: boolean): string;
  foot(total: Total): string;
}

export type FormName = 'text' | 'json' | 'csv';

export const formsOfOne: Record<FormName, Form<Charge>> = {
  text: asText(
    [
      { head: 'Charged (UTC)', width: 16 },
      { head: 'Session', width: 36 },
      { head: 'Duration', width: 14, align: 'right' },
      { head: 'Title', width: 24 },
    ],
    ({ charged_at, session_id, charged_ms, title }) => [
      ...[minuteOf(charged_at), session_id],
      ...[formatDuration(charged_ms), title ?? '(deleted)'],
    ],
  ),
  json: asJson('charges', ({ session_id, charged_at, charged_ms, title, reference }) => ({
    ...{ id: session_id, chargedAt: rfc3339(charged_at), chargedMs: charged_ms },
    ...(title !== null && { title }),
    ...(reference !== null && { reference }),
  })),
  csv: asCsv(
    ['session', 'charged_at', 'charged_ms', 'title', 'reference'],
    ({ session_id, charged_at, charged_ms, title, reference }) => [
      ...[session_id, rfc3339(charged_at), charged_ms],
      ...[title, reference],
    ],
  ),
};

export const formsOfAll: Record<FormName, Form<AccountSum>> = {
  text: asText(
    [
      { head: 'Account', width: 36 },
      { head: 'Name', width: 18 },
      { head: 'Plan', width: 10 },
      { head: 'Sessions', align: 'right', width: 8 },
      { head: 'Charged', align: 'right', width: 14 },
    ],
    (sum) => [sum.id, nameOf(sum), sum.plan, String(sum.sessions), formatDuration(sum.charged_ms)],
  ),
  json: asJson('accounts', ({ id, name, plan, sessions, charged_ms: chargedMs }) => ({
    ...{ id, name, plan },
    ...{ sessions, chargedMs },
  })),
  csv: asCsv(['account', 'name', 'plan', 'sessions', 'charged_ms'], ({ id, name, plan, sessions, charged_ms }) => [
    ...[id, name, plan],
    ...[sessions, charged_ms],
  ]),
};

function asText<Row>(columns: Column[], cells: (row: Row) => string[]): Form<Row> {
  return {
    head: () => '',
    page(rows, isFirst) {
      const lines = table(columns, rows.map(cells), '');
      return `${isFirst ? lines : lines.slice(lines.indexOf('\n') + 1)}\n`;
    },
    foot: ({ month, sessions, chargedMs }) =>
      `${sessions === 0 ? '' : '\n'}${count(sessions, 'session')} charged ${formatDuration(chargedMs)} in ${month}.\n`,
  };
}

function asJson<Row>(name: string, json: (row: Row) => object): Form<Row> {
  return {
    head: ({ account: id, ...total }) => JSON.stringify({ id, ...total, [name]: [] }).slice(0, -2),
    page: (rows, isFirst) =>
      rows.map((row, index) => `${isFirst && index === 0 ? '' : ','}\n${JSON.stringify(json(row))}`).join(''),
    foot: () => '\n]}\n',
  };
}

function asCsv<Row>(head: string[], fields: (row: Row) => (string | number | null)[]): Form<Row> {
  return {
    head: () => csvLine(head),
    page: (rows) => rows.map((row) => csvLine(fields(row))).join(''),
    foot: () => '',
  };
}
