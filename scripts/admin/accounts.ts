import { randomUUIDv7 } from 'node:crypto';
import {
  createAccount,
  listAccounts,
  resumeAccount,
  setLimitOverrides,
  setPlan,
  setRetention,
  suspendAccount,
} from '../../db/accounts/accounts.ts';
import { addLedgerEntry } from '../../db/accounts/ledger.ts';
import { listPlans } from '../../db/accounts/plans.ts';
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

import { accountId, positiveDuration, retentionDays, text } from './arguments.ts';
import { addCommand, addGroup, invocation } from './command.ts';
import { formatDuration } from './durations.ts';
import { addLimitOptions, jsonLimits, limitDetails, limitNames, shownLimit, typedLimits } from './plans.ts';
import { count, details, momentOf, table } from '../terminal/table.ts';
import { Mistake } from '../terminal/refusal.ts';
import { audioLeft } from './exit.ts';
import type { Command } from 'commander';
import type { Account } from '../../db/accounts/accounts.ts';
import type { LimitOverrides, Limits, PlanTable } from '../../db/schema.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Report } from './command.ts';
import type { LimitOptions } from './plans.ts';

const noOverrides: LimitOverrides = {
  requests_per_minute: null,
  queued_sessions: null,
  running_jobs: null,
  max_upload_bytes: null,
  max_audio_ms: null,
};

export function addAccountCommands(program: Command, answer: Answer): void {
  const group = addGroup(program, 'accounts', 'Create, show, change, suspend and delete accounts.');

  addCommand(group, 'create', 'Create an account.', 'create --name "Acme Ltd" --plan pro --balance 10h')
    .requiredOption('--name <name>', 'name of the customer', text)
    .requiredOption('--plan <plan>', 'plan; "plans list" shows them')
    .option('--balance <duration>', 'credit to begin with, such as 10h', positiveDuration())
    .action(answer((admin, options: NewAccount) => create(admin, options)));

  addCommand(group, 'list', 'List all accounts.', 'list', 'list --json').action(answer(list));

  addCommand(group, 'show', 'Show an account with its balance and limits.', 'show ACCOUNT')
    .argument('<account>', 'id of the account', accountId)
    .action(answer((admin, id: string) => show(admin, id, '')));

  addCommand(group, 'set-plan', 'Put an account on another plan.', 'set-plan ACCOUNT team')
    .argument('<account>', 'id of the account', accountId)
    .argument('<plan>', 'plan; "plans list" shows them')
    .action(
      answer(async (admin, id: string, plan: string) => {
        await getPlan(admin.db, plan);
        const logged = { act: 'accounts set-plan', details: () => ({ plan }) } as const;
        await changeAccount(admin, id, logged, (trx) => setPlan(trx, id, plan));
        return show(admin, id, `The plan is ${plan} now.`);
      }),
    );

  const examples = ['set-limits ACCOUNT --requests-per-minute 600 --max-audio 8h', 'set-limits ACCOUNT --clear'];
  addLimitOptions(addCommand(group, 'set-limits', "Give an account limits of its own, before its plan's.", ...examples))
    .argument('<account>', 'id of the account', accountId)
    .option('--clear', "go back to the plan's limits")
    .action(
      answer(async (admin, id: string, options: LimitOptions & { clear?: true }) => {
        const limits = overridesOf(options);
        const logged = { act: 'accounts set-limits', details: () => limitDetails(limits) } as const;
        await changeAccount(admin, id, logged, (trx) => setLimitOverrides(trx, id, limits));
        return show(admin, id, options.clear ? "All limits are the plan's now." : 'The limits are set.');
      }),
    );

  const keeps = 'Delete sessions uploaded from now on after so many days, unless their upload says otherwise.';
  addCommand(group, 'set-retention', keeps, 'set-retention ACCOUNT 30d', 'set-retention ACCOUNT none')
    .argument('<account>', 'id of the account', accountId)
    .argument('<days>', '1 to 3650, such as 30d or 90, or none: sessions are kept', retentionDays)
    .action(
      answer(async (admin, id: string, days: number | null) => {
        const logged = { act: 'accounts set-retention', details: () => ({ days }) } as const;
        await changeAccount(admin, id, logged, (trx) => setRetention(trx, id, days));
        return show(admin, id, 'The retention is set, for sessions that are uploaded from now on.');
      }),
    );

  addCommand(group, 'suspend', 'Refuse all requests of an account; what it has queued is finished.', 'suspend ACCOUNT')
    .argument('<account>', 'id of the account', accountId)
    .action(
      answer(async (admin, id: string) => {
        const logged = { act: 'accounts suspend', details: () => ({}) } as const;
        await changeAccount(admin, id, logged, (trx) => suspendAccount(trx, id));
        return show(admin, id, 'The account is suspended; running services refuse its keys within a second.');
      }),
    );

  addCommand(group, 'resume', 'Let a suspended account work again.', 'resume ACCOUNT')
    .argument('<account>', 'id of the account', accountId)
    .action(
      answer(async (admin, id: string) => {
        const logged = { act: 'accounts resume', details: () => ({}) } as const;
        await changeAccount(admin, id, logged, (trx) => resumeAccount(trx, id));
        return show(admin, id, 'The account may work again.');
      }),
    );

  const erases = 'Erase an account: sessions, transcripts, audio, keys and name. Its ledger stays, without text.';
  addCommand(group, 'delete', erases, 'delete ACCOUNT')
    .argument('<account>', 'id of the account', accountId)
    .action(answer((admin, id: string) => erase(admin, id)));
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
  const columns = [
    { head: 'Account' },
    { head: 'Name', width: 22 },
    { head: 'Plan', width: 10 },
    { head: 'Status' },
    { head: 'Balance', align: 'right' },
  ] as const;
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
  return clear ? noOverrides : limits;
}

const statusOf = (account: Account): 'active' | 'suspended' | 'deleted' =>
  account.deleted_at !== null ? 'deleted' : account.suspended_at !== null ? 'suspended' : 'active';

/** With the limits of the account, and the names of those limits that are its own and not its plan's. */
function accountJson(account: Account, plan: PlanTable) {
  return {
    ...balanceJson(account),
    plan: account.plan,
    status: statusOf(account),
    ...jsonLimits(limitsInForce(account, plan)),
    overrides: limitNames.filter(({ column }) => account[column] !== null).map(({ json }) => json),
    ...(account.retention_days !== null && { retentionDays: account.retention_days }),
    createdAt: rfc3339(account.created_at),
    ...(account.suspended_at !== null && { suspendedAt: rfc3339(account.suspended_at) }),
    ...(account.deleted_at !== null && { deletedAt: rfc3339(account.deleted_at) }),
  };
}

function accountText(account: Account, plan: PlanTable): string {
  const inForce = limitsInForce(account, plan);
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

function limitsInForce(account: Account, plan: PlanTable): Limits {
  return {
    requests_per_minute: account.requests_per_minute ?? plan.requests_per_minute,
    queued_sessions: account.queued_sessions ?? plan.queued_sessions,
    running_jobs: account.running_jobs ?? plan.running_jobs,
    max_upload_bytes: account.max_upload_bytes ?? plan.max_upload_bytes,
    max_audio_ms: account.max_audio_ms ?? plan.max_audio_ms,
  };
}
