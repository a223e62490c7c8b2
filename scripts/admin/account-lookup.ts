/** Finds accounts by their ids, with the same words for an unknown one, and shows their balance. */
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { availableMs, findAccount, listPlans } from '../../db/accounts/accounts.ts';
import { formatDuration } from './durations.ts';
import { Refusal, Mistake } from '../terminal/refusal.ts';
import type { Account, AccountWithLimits } from '../../db/accounts/accounts.ts';
import type { Queryable, Trx } from '../../db/connection/database.ts';
import type { PlanTable, SupportAct } from '../../db/schema.ts';
import type { AdminContext } from './admin-context.ts';

/** @throws {Refusal} when there is no such account; a deleted account still exists, for its ledger */
export async function getAccount(db: Queryable, id: string): Promise<Account> {
  return (await findAccount(db, id)) ?? refuseUnknownAccount(id);
}

/** For the log of what support did. Undefined details: nothing was changed, and nothing is logged. */
interface Logged<T> {
  act: SupportAct;
  details: (result: T) => object | undefined;
}

/**
 * Runs `work` in one transaction that holds the account's lock, and logs it there.
 *
 * @throws {Refusal} when there is no such account, or it was deleted
 */
export function changeAccount<T>(
  { db, record }: Pick<AdminContext, 'db' | 'record'>,
  id: string,
  { act, details: detailsOf }: Logged<T>,
  work: (trx: Trx, account: AccountWithLimits) => Promise<T>,
): Promise<T> {
  return inAccountTransaction(db, id, async (trx, locked) => {
    const account = locked ?? refuseUnknownAccount(id);
    if (account.deleted_at !== null) refuseDeletedAccount(id);
    const result = await work(trx, account);
    const details = detailsOf(result);
    if (details !== undefined) await record(trx, { act, accountId: id, details });
    return result;
  });
}

/** @throws {Mistake} that names the plans that exist */
export async function getPlan(db: Queryable, name: string): Promise<PlanTable> {
  const plans = await listPlans(db);
  const plan = plans.find((one) => one.plan === name);
  if (plan !== undefined) return plan;
  throw new Mistake(`there is no plan '${name}'. Type one of: ${plans.map((one) => one.plan).join(', ')}.`);
}

export function refuseUnknownAccount(id: string): never {
  throw new Refusal(`There is no account ${id}. "accounts list" shows those there are.`);
}

export function refuseDeletedAccount(id: string): never {
  throw new Refusal(`Account ${id} was deleted: only its ledger is left.`);
}

/** What every answer about a balance contains. */
export function balanceJson(account: Account) {
  return {
    id: account.id,
    name: account.name,
    balanceMs: account.balance_ms,
    reservedMs: account.reserved_ms,
    availableMs: availableMs(account),
  };
}

export const balanceEntries = (account: Account) => ({
  Balance: formatDuration(account.balance_ms),
  Reserved: formatDuration(account.reserved_ms),
  Available: formatDuration(availableMs(account)),
});

export const nameOf = ({ name, deleted_at }: Pick<Account, 'name' | 'deleted_at'>): string =>
  deleted_at === null ? name : '(erased)';
