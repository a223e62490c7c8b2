import { randomUUIDv7 } from 'node:crypto';
import { createAccount, listAccounts, listPlans, suspendAccount, updateAccount } from '../../db/accounts/accounts.ts';
import { addLedgerEntry } from '../../db/accounts/ledger.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { eraseAccount } from '../../src/sessions/account-erasure.ts';
import {
  balanceEntries,
  balanceJson,
  changeAccount,
  getAccount,
  getPlan,
  nameOf,
  refuseDeletedAccount,
  refuseUnknownAccount,
} from './account-lookup.ts';
import { rfc3339 } from '../../db/connection/values.ts';
import { positiveDuration, retentionDays, text } from './arguments.ts';
import { addAccountCommand, addCommand, addGroup, invocation } from './command.ts';
import { formatDuration } from './durations.ts';
import { addLimitOptions, eachLimit, jsonLimits, limitNames, shownLimit, typedLimits } from './plans.ts';
import { count, details, momentOf, right, table } from '../terminal/table.ts';
import { Mistake } from '../terminal/refusal.ts';
import { audioLeft } from './exit.ts';
import type { Command } from 'commander';
import type { Account } from '../../db/accounts/accounts.ts';
import type { Trx } from '../../db/connection/database.ts';
import type { LimitOverrides, Limits, PlanTable, SupportAct } from '../../db/schema.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Report } from './command.ts';
import type { LimitOptions } from './plans.ts';

export function addAccountCommands(program: Command, answer: Answer): void {
  const group = addGroup(program, 'accounts', 'Create, show, change, suspend and delete accounts.');

  addCommand(group, 'create', 'Create an account.', 'create --name "Acme Ltd" --plan pro --balance 10h')
    .requiredOption('--name <name>', 'name of the customer', text)
    .requiredOption('--plan <plan>', 'plan; "plans list" shows them')
    .option('--balance <duration>', 'credit to begin with, such as 10h', positiveDuration())
    .action(answer((admin, options: NewAccount) => create(admin, options)));

  addCommand(group, 'list', 'List all accounts.', 'list', 'list --json').action(answer(list));

  addAccountCommand(group, 'show', 'Show an account with its balance and limits.', 'show ACCOUNT').action(
    answer((admin, id: string) => show(admin, id, '')),
  );

  addAccountCommand(group, 'set-plan', 'Put an account on another plan.', 'set-plan ACCOUNT team')
    .argument('<plan>', 'plan; "plans list" shows them')
    .action(
      answer(async (admin, id: string, plan: string) => {
        await getPlan(admin.db, plan);
        const sets = (trx: Trx) => updateAccount(trx, id, { plan });
        return change(admin, id, 'accounts set-plan', { plan }, sets, `The plan is ${plan} now.`);
      }),
    );

  const examples = ['set-limits ACCOUNT --requests-per-minute 600 --max-audio 8h', 'set-limits ACCOUNT --clear'];
  const limits = "Give an account limits of its own, before its plan's.";
  addLimitOptions(addAccountCommand(group, 'set-limits', limits, ...examples))
    .option('--clear', "go back to the plan's limits")
    .action(
      answer((admin, id: string, options: LimitOptions & { clear?: true }) => {
        const limits = overridesOf(options);
        const sets = (trx: Trx) => updateAccount(trx, id, limits);
        const sentence = options.clear ? "All limits are the plan's now." : 'The limits are set.';
        return change(admin, id, 'accounts set-limits', jsonLimits(limits), sets, sentence);
      }),
    );

  const keeps = 'Delete sessions uploaded from now on after so many days, unless their upload says otherwise.';
  addAccountCommand(group, 'set-retention', keeps, 'set-retention ACCOUNT 30d', 'set-retention ACCOUNT none')
    .argument('<days>', '1 to 3650, such as 30d or 90, or none: sessions are kept', retentionDays)
    .action(
      answer((admin, id: string, days: number | null) => {
        const sets = (trx: Trx) => updateAccount(trx, id, { retention_days: days });
        const sentence = 'The retention is set, for sessions that are uploaded from now on.';
        return change(admin, id, 'accounts set-retention', { days }, sets, sentence);
      }),
    );

  const suspends = 'Refuse all requests of an account; what it has queued is finished.';
  addAccountCommand(group, 'suspend', suspends, 'suspend ACCOUNT').action(
    answer((admin, id: string) => {
      const sentence = 'The account is suspended; running services refuse its keys within a second.';
      return change(admin, id, 'accounts suspend', {}, (trx) => suspendAccount(trx, id), sentence);
    }),
  );

  addAccountCommand(group, 'resume', 'Let a suspended account work again.', 'resume ACCOUNT').action(
    answer((admin, id: string) => {
      const sets = (trx: Trx) => updateAccount(trx, id, { suspended_at: null });
      return change(admin, id, 'accounts resume', {}, sets, 'The account may work again.');
    }),
  );

  const erases = 'Erase an account: sessions, transcripts, audio, keys and name. Its ledger stays, without text.';
  addAccountCommand(group, 'delete', erases, 'delete ACCOUNT').action(answer(erase));
}

/** Changes an account in a transaction, logs that there, and shows the account. */
async function change(
  admin: AdminContext,
  id: string,
  act: SupportAct,
  logged: object,
  work: (trx: Trx) => Promise<unknown>,
  sentence: string,
): Promise<Report> {
  await changeAccount(admin, id, { act, details: () => logged }, work);
  return show(admin, id, sentence);
}

interface NewAccount {
  name: string;
  plan: string;
  /** In ms. */
  balance?: number;
}

async function create(admin: AdminContext, { name, plan, balance }: NewAccount): Promise<Report> {
  await getPlan(admin.db, plan);
  const id = randomUUIDv7();
  await inTransaction(admin.db, async (trx) => {
    await createAccount(trx, { id, name, plan });
    if (balance !== undefined) await addLedgerEntry(trx, { accountId: id, kind: 'credit', amountMs: balance });
    const details = { plan, ...(balance !== undefined && { balanceMs: balance }) };
    await admin.record(trx, { act: 'accounts create', accountId: id, details });
  });
  return show(
    admin,
    id,
    `The account is created. Now give it a key:\n  ${invocation} keys issue ${id} --scope read --scope write`,
  );
}

async function list({ db }: AdminContext): Promise<Report> {
  const [accounts, plans] = await Promise.all([listAccounts(db), listPlans(db)]);
  const planOf = new Map(plans.map((plan) => [plan.plan, plan]));
  const [name, plan] = [
    { head: 'Name', width: 22 },
    { head: 'Plan', width: 10 },
  ];
  const columns = ['Account', name, plan, 'Status', right('Balance')];
  const rows = accounts.map((account) => [
    ...[account.id, account.name, account.plan, statusOf(account)],
    formatDuration(account.balance_ms),
  ]);
  return {
    json: accounts.map((account) => accountJson(account, planOf.get(account.plan)!)),
    text: table(columns, rows, `There is no account yet: ${invocation} accounts create --name "Acme Ltd" --plan pro`),
  };
}

/** @param sentence what has happened to the account */
async function show({ db }: AdminContext, id: string, sentence: string): Promise<Report> {
  const account = await getAccount(db, id);
  const plan = await getPlan(db, account.plan);
  const shown = accountText(account, plan);
  return { json: accountJson(account, plan), text: sentence === '' ? shown : `${sentence}\n\n${shown}` };
}

async function erase(admin: AdminContext, id: string): Promise<Report> {
  const outcome = await eraseAccount({ ...admin, queue: await admin.queue() }, id, (trx, { sessions, keys }) =>
    admin.record(trx, {
      ...{ act: 'accounts delete', accountId: id },
      details: { erasedSessions: sessions, ...(keys !== undefined && { erasedKeys: keys }) },
    }),
  );
  if (outcome.kind === 'unknown') refuseUnknownAccount(id);
  if (outcome.kind === 'erased_before') refuseDeletedAccount(id);
  if (outcome.kind === 'audio_left') throw audioLeft(outcome.error);
  const { sessions, keys } = outcome;
  const account = await getAccount(admin.db, id);
  return {
    json: {
      ...accountJson(account, await getPlan(admin.db, account.plan)),
      erasedSessions: sessions,
      erasedKeys: keys,
    },
    text: `Account ${id} is erased, with ${count(sessions, 'session')} and ${count(keys, 'API key')}. Its ledger stays, without text.`,
  };
}

function overridesOf({ clear, ...options }: LimitOptions & { clear?: true }): Partial<LimitOverrides> {
  const limits = typedLimits(options);
  const isEmpty = Object.keys(limits).length === 0;
  if (clear && !isEmpty) throw new Mistake('--clear removes all limits of its own: type it alone.');
  if (!clear && isEmpty) throw new Mistake('no limit was given. Type at least one of them, or --clear.');
  return clear ? eachLimit(() => null) : limits;
}

const statusOf = (account: Account): 'active' | 'suspended' | 'deleted' =>
  account.deleted_at !== null ? 'deleted' : account.suspended_at !== null ? 'suspended' : 'active';

/** With the limits of the account, and the names of those limits that are its own and not its plan's. */
function accountJson(account: Account, plan: PlanTable) {
  return {
    ...balanceJson(account),
    plan: account.plan,
    status: statusOf(account),
    ...jsonLimits(effectiveLimits(account, plan)),
    overrides: limitNames.filter(({ column }) => account[column] !== null).map(({ json }) => json),
    ...(account.retention_days !== null && { retentionDays: account.retention_days }),
    createdAt: rfc3339(account.created_at),
    ...(account.suspended_at !== null && { suspendedAt: rfc3339(account.suspended_at) }),
    ...(account.deleted_at !== null && { deletedAt: rfc3339(account.deleted_at) }),
  };
}

function accountText(account: Account, plan: PlanTable): string {
  const inForce = effectiveLimits(account, plan);
  const limits = limitNames.map((limit): [string, string] => {
    const value = shownLimit(limit, inForce[limit.column]);
    return [
      limit.label,
      account[limit.column] === null
        ? value
        : `${value} (its own; the plan says ${shownLimit(limit, plan[limit.column])})`,
    ];
  });
  return details({
    Account: account.id,
    Name: nameOf(account),
    Plan: plan.eligible ? plan.plan : `${plan.plan} (may not use the API)`,
    Status: statusOf(account),
    ...balanceEntries(account),
    ...Object.fromEntries(limits),
    Retention: account.retention_days === null ? 'sessions are kept' : count(account.retention_days, 'day'),
    Created: momentOf(account.created_at),
    Suspended: momentOf(account.suspended_at),
    Deleted: momentOf(account.deleted_at),
  });
}

const effectiveLimits = (account: Account, plan: PlanTable): Limits =>
  eachLimit((column) => account[column] ?? plan[column]);
