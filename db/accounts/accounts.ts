import { sql } from 'kysely';
import { NamedQuery } from '../connection/named-query.ts';
import type { ExpressionBuilder, Selectable } from 'kysely';
import type { Queryable, Trx } from '../connection/database.ts';
import type { AccountTable, LimitOverrides, Limits, PlanTable, Schema } from '../schema.ts';

export type Account = Selectable<AccountTable>;

/** An account with its limits: its own limit where support set one, otherwise that of its plan. */
export interface AccountWithLimits extends Limits {
  id: string;
  plan: string;
  eligible: boolean;
  suspended_at: string | null;
  deleted_at: string | null;
  balance_ms: number;
  reserved_ms: number;
  /** Null: sessions are kept. */
  retention_days: number | null;
}

export function createAccount(db: Queryable, account: { id: string; name: string; plan: string }): Promise<Account> {
  return db.insertInto('accounts').values(account).returningAll().executeTakeFirstOrThrow();
}

export function listAccounts(db: Queryable): Promise<Account[]> {
  return db
    .selectFrom('accounts')
    .selectAll()
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export function findAccount(db: Queryable, id: string): Promise<Account | undefined> {
  return db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();
}

export interface AccountQuota extends AccountWithLimits {
  /** How many of its sessions wait for a worker. */
  queued: number;
}

/** Reads an account without a lock, for checks that are made again under the lock. */
export async function findQuota(db: Queryable, id: string): Promise<AccountQuota | undefined> {
  const [quota] = await quotas.run(db, { id });
  return quota;
}

const quotas = new NamedQuery<{ id: string }, AccountQuota>('quota', (db, parameter) =>
  accountsInForce(db)
    .where('accounts.id', '=', parameter('id'))
    .select((eb) =>
      eb
        .selectFrom('sessions')
        .select((of) => of.fn.countAll<number>().as('queued'))
        .whereRef('sessions.account_id', '=', 'accounts.id')
        .where('status', '=', 'queued')
        .$asScalar()
        .$notNull()
        .as('queued'),
    ),
);

/**
 * Locks the account until the transaction ends. Only `inAccountTransaction` calls this, because its callers wait in a
 * line.
 */
export function lockAccount(trx: Trx, id: string): Promise<AccountWithLimits | undefined> {
  return accountsInForce(trx).where('accounts.id', '=', id).forUpdate('accounts').executeTakeFirst();
}

function accountsInForce(db: Queryable) {
  return db
    .selectFrom('accounts')
    .innerJoin('plans', 'plans.plan', 'accounts.plan')
    .select([
      'accounts.id',
      'accounts.plan',
      'plans.eligible',
      'accounts.suspended_at',
      'accounts.deleted_at',
      'accounts.balance_ms',
      'accounts.reserved_ms',
      'accounts.retention_days',
    ])
    .select(effectiveLimits);
}

/** The columns of {@link Limits} over a join of accounts and plans. */
export function effectiveLimits(eb: ExpressionBuilder<Schema, 'accounts' | 'plans'>) {
  const inForce = (name: keyof Limits) => eb.fn.coalesce(`accounts.${name}`, `plans.${name}`).as(name);
  return [
    inForce('requests_per_minute'),
    inForce('queued_sessions'),
    inForce('running_jobs'),
    inForce('max_upload_bytes'),
    inForce('max_audio_ms'),
  ] as const;
}

export function setPlan(db: Queryable, id: string, plan: string): Promise<Account | undefined> {
  return db.updateTable('accounts').set({ plan }).where('id', '=', id).returningAll().executeTakeFirst();
}

export function setLimitOverrides(
  db: Queryable,
  id: string,
  overrides: Partial<LimitOverrides>,
): Promise<Account | undefined> {
  return db.updateTable('accounts').set(overrides).where('id', '=', id).returningAll().executeTakeFirst();
}

/** @param days null: sessions are kept */
export function setRetention(db: Queryable, id: string, days: number | null): Promise<Account | undefined> {
  return db
    .updateTable('accounts')
    .set({ retention_days: days })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export function suspendAccount(db: Queryable, id: string): Promise<Account | undefined> {
  return db
    .updateTable('accounts')
    .set({ suspended_at: sql<string>`coalesce(suspended_at, now())` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export function resumeAccount(db: Queryable, id: string): Promise<Account | undefined> {
  return db.updateTable('accounts').set({ suspended_at: null }).where('id', '=', id).returningAll().executeTakeFirst();
}

/** Deletes the account's name. The row stays for the ledger. */
export async function markAccountDeleted(trx: Trx, id: string): Promise<void> {
  await trx
    .updateTable('accounts')
    .set({ name: '', deleted_at: sql<string>`now()` })
    .where('id', '=', id)
    .execute();
}

/** Adds `ms` to what the account has reserved; a negative `ms` gives back. The caller holds the account's lock. */
export async function changeReserved(trx: Trx, id: string, ms: number): Promise<void> {
  if (ms === 0) return;
  await trx
    .updateTable('accounts')
    .set((eb) => ({ reserved_ms: eb('reserved_ms', '+', ms) }))
    .where('id', '=', id)
    .execute();
}

/** Only `ledger.ts` calls this, so that the balance stays the sum of the ledger. */
export async function changeBalance(trx: Trx, id: string, ms: number): Promise<void> {
  await trx
    .updateTable('accounts')
    .set((eb) => ({ balance_ms: eb('balance_ms', '+', ms) }))
    .where('id', '=', id)
    .execute();
}

export function listPlans(db: Queryable): Promise<PlanTable[]> {
  return db.selectFrom('plans').selectAll().orderBy('queued_sessions').execute();
}

/** Changes limits of a plan, for every account without limits of its own. Undefined when there is no such plan. */
export function setPlanLimits(db: Queryable, plan: string, limits: Partial<Limits>): Promise<PlanTable | undefined> {
  return db.updateTable('plans').set(limits).where('plan', '=', plan).returningAll().executeTakeFirst();
}
