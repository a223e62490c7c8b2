import { rfc3339 } from '../../db/connection/values.ts';
import { addLedgerEntry, findLedgerEntryByReference, listLedger } from '../../db/accounts/ledger.ts';
import { changeAccount, getAccount, balanceEntries, balanceJson, nameOf } from './account-lookup.ts';
import { positiveDuration, signedDuration, text } from './arguments.ts';
import { addAccountCommand, addGroup } from './command.ts';
import { formatDuration } from './durations.ts';
import { details, minuteOf, right, table } from '../terminal/table.ts';
import { Refusal } from '../terminal/refusal.ts';
import type { Command } from 'commander';
import type { LedgerEntry } from '../../db/accounts/ledger.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Report } from './command.ts';

export function addBalanceCommands(program: Command, answer: Answer): void {
  const group = addGroup(program, 'balance', 'Credit, correct and show the transcription time of accounts.');
  const reference = 'an invoice number or the like; the same one again changes nothing';

  addAccountCommand(group, 'credit', 'Add transcription time.', 'credit ACCOUNT 10h --reference invoice-2041')
    .argument('<duration>', 'how much to add, such as 10h', positiveDuration())
    .option('--reference <reference>', reference, text)
    .action(
      answer((admin, id: string, amountMs: number, options: { reference?: string }) =>
        change(admin, { accountId: id, kind: 'credit', amountMs, ...options }),
      ),
    );

  const examples = ['correct ACCOUNT -2h --reason "Credited twice"', 'correct ACCOUNT 30m --reason "Noise charged"'];
  addAccountCommand(group, 'correct', 'Add or take away transcription time, with a reason.', ...examples)
    .argument('<duration>', 'how much to add, or to take away: 30m, -2h', signedDuration)
    .requiredOption('--reason <reason>', 'why, for the ledger', text)
    .option('--reference <reference>', reference, text)
    .action(
      answer((admin, id: string, amountMs: number, options: { reason: string; reference?: string }) =>
        change(admin, { accountId: id, kind: 'correction', amountMs, ...options }),
      ),
    );

  addAccountCommand(group, 'show', 'Show a balance and its ledger, oldest entry first.', 'show ACCOUNT').action(
    answer((admin, id: string) => show(admin, id)),
  );
}

type Change = { accountId: string; amountMs: number; reference?: string } & (
  { kind: 'credit' } | { kind: 'correction'; reason: string }
);

async function change(admin: AdminContext, entry: Change): Promise<Report> {
  const { db } = admin;
  const { accountId: id, amountMs } = entry;
  const logged = {
    act: entry.kind === 'credit' ? 'balance credit' : 'balance correct',
    details: (added: boolean) => (added ? { amountMs } : undefined),
  } as const;
  const changed = await changeAccount(admin, id, logged, async (trx, { balance_ms }) => {
    if (!Number.isSafeInteger(balance_ms + entry.amountMs))
      throw new Refusal('The balance would be too large to count.');
    return addLedgerEntry(trx, entry);
  });
  const account = await getAccount(db, id);
  const json = { ...balanceJson(account), changed };
  const now = `The balance is ${formatDuration(account.balance_ms)}.`;
  if (changed)
    return {
      json,
      text: `${entry.kind === 'credit' ? 'Credited' : 'Corrected by'} ${formatDuration(entry.amountMs)}. ${now}`,
    };

  const before = (await findLedgerEntryByReference(db, id, entry.reference!))!;
  const what = `a ${before.kind} of ${formatDuration(before.amount_ms)} at ${rfc3339(before.created_at)}`;
  return { json, text: `Nothing changed: the reference '${entry.reference}' was used before, for ${what}. ${now}` };
}

async function show({ db }: AdminContext, id: string): Promise<Report> {
  const account = await getAccount(db, id);
  const ledger = await listLedger(db, id);
  const columns = ['Time (UTC)', 'Kind', right('Amount'), right('Balance'), { head: 'About', width: 40 }];
  let balanceMs = 0;
  const rows = ledger.map((entry) => {
    balanceMs += entry.amount_ms;
    return [
      minuteOf(entry.created_at),
      entry.kind,
      formatDuration(entry.amount_ms),
      formatDuration(balanceMs),
      about(entry),
    ];
  });
  const head = details({ Account: account.id, Name: nameOf(account), ...balanceEntries(account) });
  return {
    json: { ...balanceJson(account), entries: ledger.map(entryJson) },
    text: `${head}\n\n${table(columns, rows, 'The ledger is empty.')}`,
  };
}

const about = ({ session_id, reason, reference }: LedgerEntry): string =>
  session_id === null ? [reference, reason].filter((part) => part !== null).join(': ') : session_id;

function entryJson(entry: LedgerEntry) {
  return {
    id: entry.id,
    kind: entry.kind,
    amountMs: entry.amount_ms,
    ...(entry.session_id !== null && { sessionId: entry.session_id }),
    ...(entry.reason !== null && { reason: entry.reason }),
    ...(entry.reference !== null && { reference: entry.reference }),
    createdAt: rfc3339(entry.created_at),
  };
}
