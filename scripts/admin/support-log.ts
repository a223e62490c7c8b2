/** `log`: what support did. */
import { rfc3339 } from '../../db/connection/values.ts';
import { listSupportLog } from '../../db/accounts/support-log.ts';
import { accountId, wholeNumber } from './arguments.ts';
import { addCommand } from './command.ts';
import { minuteOf, table } from '../terminal/table.ts';
import type { Command } from 'commander';
import type { SupportLogEntry } from '../../db/accounts/support-log.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Report } from './command.ts';

interface Chosen {
  account?: string;
  limit: number;
}

export function addSupportLogCommand(program: Command, answer: Answer): void {
  const describes = 'Show what was done with this command, by whom and when, newest first.';
  addCommand(program, 'log', describes, 'log', 'log --account ACCOUNT --limit 500')
    .option('--account <account>', 'only what was done to this account', accountId)
    .option('--limit <n>', 'how many at most', wholeNumber(1, 10_000), 100)
    .action(answer((admin, options: Chosen) => log(admin, options)));
}

async function log({ db }: AdminContext, { account, limit }: Chosen): Promise<Report> {
  const entries = await listSupportLog(db, { accountId: account, limit });
  const columns = ['Time (UTC)', { head: 'Who', width: 16 }, 'What', 'About'];
  const rows = entries.map((entry) => [minuteOf(entry.at), entry.who, entry.act, about(entry)]);
  return { json: entries.map(entryJson), text: table(columns, rows, 'Nothing was done yet.') };
}

const about = ({ account_id, details }: SupportLogEntry): string =>
  Object.entries({ ...(account_id !== null && { account: account_id }), ...(JSON.parse(details) as object) })
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');

function entryJson({ number, at, who, act, account_id, details }: SupportLogEntry) {
  return {
    ...{ id: number, at: rfc3339(at), who, act },
    ...(account_id !== null && { accountId: account_id }),
    details: JSON.parse(details) as object,
  };
}
