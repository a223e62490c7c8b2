/** `usage`: what an account, or each of them, was charged in a month. However much that is, a page of it is held in memory. */
import { InvalidArgumentError, Option } from 'commander';
import { listCharges, listSums, sumCharges } from '../../db/accounts/charges.ts';
import { openDatabase, patientTimeoutMs } from '../../db/connection/database.ts';
import { inSnapshot } from '../../db/connection/transaction.ts';
import { getAccount } from './account-lookup.ts';
import { accountId } from './arguments.ts';
import { explainMistakes } from './answer.ts';
import { formsOfAll, formsOfOne } from './charge-forms.ts';
import { addCommand } from './command.ts';
import { Mistake } from '../terminal/mistake.ts';
import type { Command } from 'commander';
import type { Charge, Period } from '../../db/accounts/charges.ts';
import type { Trx } from '../../db/connection/database.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer } from './answer.ts';
import type { Form, FormName, Total } from './charge-forms.ts';
import type { LongReport } from './command.ts';

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
    .action(async (id: string | undefined, typed: { all?: true; month: string; csv?: true }, command: Command) => {
      await explainMistakes(command, async () => refuseUnlessOne(id, typed.all));
      return answer(command, async (admin, json) => {
        if (id !== undefined) await getAccount(admin.db, id);
        return usage(admin, id, typed.month, typed.csv ? 'csv' : json);
      });
    });
}

function refuseUnlessOne(account: string | undefined, all: true | undefined): void {
  if ((account === undefined) === (all === undefined)) throw new Mistake('type the id of an account, or --all.');
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
  { databaseUrl }: Pick<AdminContext, 'databaseUrl'>,
  account: string | undefined,
  month: string,
  form: FormName,
): LongReport {
  return {
    async print(write) {
      const { db, close } = openDatabase(databaseUrl, () => {}, {
        maxConnections: 1,
        timeoutMs: patientTimeoutMs,
        server: 'any',
      });
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
      try {
        await inSnapshot(db, print);
        return 0;
      } finally {
        await close();
      }
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
