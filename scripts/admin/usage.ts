/** `usage`: what an account, or each of them, was charged in a month. However much that is, a page of it is held in memory. */
import { InvalidArgumentError, Option } from 'commander';
import { listCharges, listSums, sumCharges } from '../../db/accounts/charges.ts';
import { rfc3339 } from '../../db/connection/values.ts';
import { csvLine } from '../terminal/csv.ts';
import { Mistake } from '../terminal/refusal.ts';
import { count, minuteOf, right, table } from '../terminal/table.ts';
import { getAccount, nameOf } from './account-lookup.ts';
import { readAtOneMoment } from './admin-context.ts';
import { addCommand } from './command.ts';
import { accountId } from './arguments.ts';
import { formatDuration } from './durations.ts';
import type { Command } from 'commander';
import type { AccountSum, Charge, Period } from '../../db/accounts/charges.ts';
import type { Trx } from '../../db/connection/database.ts';
import type { Column } from '../terminal/table.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, LongReport } from './command.ts';

export function addUsageCommand(program: Command, answer: Answer): void {
  const describes =
    'Show what the sessions of an account were charged in a month (UTC), oldest first; or with --all a line for each account.';
  const examples = ['usage ACCOUNT --month 2026-11 --csv > 11.csv', 'usage --all --month', '--json usage --all'];
  addCommand(program, 'usage', describes, 'usage ACCOUNT --month 2026-11', ...examples)
    .argument('[account]', 'id of the account', accountId)
    .option('--all', 'of all accounts: how many sessions each was charged for, how much, and its plan of today')
    .addOption(
      new Option('--month [month]', 'year and month, such as 2026-11; it begins and ends at midnight UTC')
        .argParser(month)
        .default(thisMonth(), 'the present one')
        .preset(thisMonth()),
    )
    .option('--csv', 'print CSV (RFC 4180), for spreadsheets')
    .action(
      answer(
        async (admin, id: string | undefined, typed: Typed) => {
          if (id !== undefined) await getAccount(admin.db, id);
          return usage(admin, id, typed.month, typed.csv ? 'csv' : admin.form);
        },
        { first: refuseUnlessOne },
      ),
    );
}

interface Typed {
  all?: true;
  month: string;
  csv?: true;
}

async function refuseUnlessOne(account: string | undefined, typed: Typed): Promise<[string | undefined, Typed]> {
  if ((account === undefined) === (typed.all === undefined)) throw new Mistake('type the id of an account, or --all.');
  return [account, typed];
}

const thisMonth = () => new Date().toISOString().slice(0, 7);

function month(typed: string): string {
  if (/^2\d{3}-(0[1-9]|1[0-2])$/.test(typed)) return typed;
  throw new InvalidArgumentError('Type a year and a month, such as 2026-11.');
}

function periodOf(typed: string): Period {
  const [year, number] = typed.split('-').map(Number);
  return { from: `${typed}-01T00:00:00Z`, until: new Date(Date.UTC(year!, number!)).toISOString() };
}

const atATime = 1_000;

/**
 * All of one moment, so that the lines add up to the total. It may be read slowly, as by a pager.
 *
 * @param account undefined: a line for each account
 */
export function usage(
  admin: Pick<AdminContext, 'databaseUrl'>,
  account: string | undefined,
  month: string,
  form: FormName,
): LongReport {
  return {
    async print(write) {
      const period = periodOf(month);
      const print = async (snapshot: Trx) => {
        const { sessions, charged_ms: chargedMs } = await sumCharges(snapshot, account, period);
        const total = { account, month, sessions, chargedMs };
        const printing = { total, write };
        if (account === undefined)
          return printPages(
            formsOfAll[form],
            (after) => listSums(snapshot, period, { after, limit: atATime }),
            printing,
          );
        const next = (after?: Charge) => listCharges(snapshot, account, period, { after, limit: atATime });
        return printPages(formsOfOne[form], next, printing);
      };
      await readAtOneMoment(admin, print);
      return 0;
    },
  };
}

async function printPages<Row>(
  form: Form<Row>,
  nextPage: (after?: Row) => Promise<Row[]>,
  { total, write }: { total: Total; write: (piece: string) => Promise<void> },
): Promise<void> {
  await write(form.head(total));
  let after: Row | undefined;
  for (;;) {
    const rows = await nextPage(after);
    if (rows.length > 0) await write(form.page(rows, after === undefined));
    if (rows.length < atATime) break;
    after = rows.at(-1)!;
  }
  await write(form.foot(total));
}

interface Total {
  /** Undefined: all of them. */
  account: string | undefined;
  month: string;
  sessions: number;
  chargedMs: number;
}

/** The pieces of an answer: before the rows, for each page of them, and after them. */
interface Form<Row> {
  head(total: Total): string;
  page(rows: Row[], isFirst: boolean): string;
  foot(total: Total): string;
}

export type FormName = 'text' | 'json' | 'csv';

const formsOfOne: Record<FormName, Form<Charge>> = {
  text: asText(
    [
      { head: 'Charged (UTC)', width: 16 },
      { head: 'Session', width: 36 },
      right('Duration', 14),
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

const formsOfAll: Record<FormName, Form<AccountSum>> = {
  text: asText(
    [
      { head: 'Account', width: 36 },
      { head: 'Name', width: 18 },
      { head: 'Plan', width: 10 },
      right('Sessions', 8),
      right('Charged', 14),
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
