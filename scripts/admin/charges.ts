/** `usage`: what an account was charged in a month. However much that is, a page of it is held in memory. */
import { InvalidArgumentError } from 'commander';
import { listCharges, sumCharges } from '../../db/charges.ts';
import { openDatabase, patientTimeoutMs } from '../../db/database.ts';
import { rfc3339 } from '../../db/values.ts';
import { inSnapshot } from '../../db/transaction.ts';
import { getAccount } from './account-lookup.ts';
import { accountId } from './arguments.ts';
import { addCommand } from './command.ts';
import { formatDuration } from './durations.ts';
import { csvLine } from '../terminal/csv.ts';
import { count, minuteOf, table } from '../terminal/table.ts';
import type { Command } from 'commander';
import type { Charge, Period } from '../../db/charges.ts';
import type { Trx } from '../../db/database.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer } from './answer.ts';
import type { LongReport } from './command.ts';

export function addUsageCommand(program: Command, answer: Answer): void {
  const describes = 'Show what the sessions of an account were charged in a month (UTC), oldest first.';
  addCommand(
    program,
    'usage',
    describes,
    'usage ACCOUNT --month 2026-11',
    'usage ACCOUNT --month 2026-11 --csv > 11.csv',
  )
    .argument('<account>', 'id of the account', accountId)
    .requiredOption('--month <month>', 'year and month, such as 2026-11; it begins and ends at midnight UTC', month)
    .option('--csv', 'print CSV (RFC 4180), for spreadsheets')
    .action((id: string, options: { month: string; csv?: true }, command: Command) =>
      answer(command, async (admin, form) => {
        await getAccount(admin.db, id);
        return usage(admin, id, options.month, options.csv ? 'csv' : form);
      }),
    );
}

function month(typed: string): string {
  if (/^2\d{3}-(0[1-9]|1[0-2])$/.test(typed)) return typed;
  throw new InvalidArgumentError('Type a year and a month, such as 2026-11.');
}

function periodOf(typed: string): Period {
  const [year, number] = typed.split('-').map(Number);
  return { from: `${typed}-01T00:00:00Z`, until: new Date(Date.UTC(year!, number!)).toISOString() };
}

interface Total {
  account: string;
  month: string;
  sessions: number;
  chargedMs: number;
}

/** The pieces of an answer: before the charges, for each page of them, and after them. */
interface Form {
  head(total: Total): string;
  page(charges: Charge[], isFirst: boolean): string;
  foot(total: Total): string;
}

const columns = [
  { head: 'Charged (UTC)', width: 16 },
  { head: 'Session', width: 36 },
  { head: 'Duration', width: 14, align: 'right' },
  { head: 'Title', width: 24 },
] as const;

const forms: Record<'text' | 'json' | 'csv', Form> = {
  text: {
    head: () => '',
    page(charges, isFirst) {
      const lines = table(
        columns,
        charges.map((charge) => [
          ...[minuteOf(charge.charged_at), charge.session_id],
          ...[formatDuration(charge.charged_ms), charge.title ?? '(deleted)'],
        ]),
        '',
      );
      return `${isFirst ? lines : lines.slice(lines.indexOf('\n') + 1)}\n`;
    },
    foot: ({ month, sessions, chargedMs }) =>
      `${sessions === 0 ? '' : '\n'}${count(sessions, 'session')} charged ${formatDuration(chargedMs)} in ${month}.\n`,
  },
  json: {
    head: ({ account: id, ...total }) => `${JSON.stringify({ id, ...total, charges: [] }).slice(0, -2)}`,
    page: (charges, isFirst) =>
      charges
        .map((charge, index) => `${isFirst && index === 0 ? '' : ','}\n${JSON.stringify(chargeJson(charge))}`)
        .join(''),
    foot: () => '\n]}\n',
  },
  csv: {
    head: () => csvLine(['session', 'charged_at', 'charged_ms', 'title', 'reference']),
    page: (charges) =>
      charges
        .map(({ session_id, charged_at, charged_ms, title, reference }) =>
          csvLine([session_id, rfc3339(charged_at), charged_ms, title, reference]),
        )
        .join(''),
    foot: () => '',
  },
};

const chargeJson = ({ session_id, charged_at, charged_ms, title, reference }: Charge) => ({
  ...{ id: session_id, chargedAt: rfc3339(charged_at), chargedMs: charged_ms },
  ...(title !== null && { title }),
  ...(reference !== null && { reference }),
});

const atATime = 1_000;

/** All of one moment, so that the charges add up to the total. It may be read slowly, as by a pager. */
export function usage(
  { databaseUrl }: Pick<AdminContext, 'databaseUrl'>,
  account: string,
  month: string,
  form: 'text' | 'json' | 'csv',
): LongReport {
  return {
    async print(write) {
      const { db, close } = openDatabase(databaseUrl, () => {}, {
        maxConnections: 1,
        timeoutMs: patientTimeoutMs,
        server: 'any',
      });
      try {
        await inSnapshot(db, (snapshot) => printCharges(snapshot, account, month, forms[form], write));
        return 0;
      } finally {
        await close();
      }
    },
  };
}

async function printCharges(
  snapshot: Trx,
  account: string,
  month: string,
  form: Form,
  write: (piece: string) => Promise<void>,
): Promise<void> {
  const period = periodOf(month);
  const { sessions, charged_ms: chargedMs } = await sumCharges(snapshot, account, period);
  const total = { account, month, sessions, chargedMs };
  await write(form.head(total));
  let after: Charge | undefined;
  for (;;) {
    const charges = await listCharges(snapshot, account, period, { after, limit: atATime });
    if (charges.length > 0) await write(form.page(charges, after === undefined));
    if (charges.length < atATime) break;
    after = charges.at(-1)!;
  }
  await write(form.foot(total));
}
