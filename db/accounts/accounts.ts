import { sql } from 'kysely';
import { NamedQuery } from '../connection/named-query.ts';
import type { ExpressionBuilder, Selectable, UpdateObject } from 'kysely';
import type { Queryable, Trx } from '../connection/database.ts';
import type { AccountTable, Limits, PlanTable, Schema } from '../schema.ts';

export type Account = Selectable<AccountTable>;

/** An account with its limits: its own limit where support set one, otherwise that of its plan. */
export type AccountWithLimits = Limits &
  Pick<PlanTable, 'eligible'> &
  Omit<Account, keyof Limits | 'name' | 'created_at'>;

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

export async function updateAccount(
  db: Queryable,
  id: string,
  changes: UpdateObject<Schema, 'accounts'>,
): Promise<void> {
  await db.updateTable('accounts').set(changes).where('id', '=', id).execute();
}

export const suspendAccount = (db: Queryable, id: string): Promise<void> =>
  updateAccount(db, id, { suspended_at: sql<string>`coalesce(suspended_at, now())` });

/** Deletes the account's name. The row stays for the ledger. */
export const markAccountDeleted = (trx: Trx, id: string): Promise<void> =>
  updateAccount(trx, id, { name: '', deleted_at: sql<string>`now()` });

/** The balance less what is reserved, in ms; may be negative. */
export const availableMs = (account: Pick<AccountWithLimits, 'balance_ms' | 'reserved_ms'>): number =>
  account.balance_ms - account.reserved_ms;

/**
 * How much of the account's balance a queued session reserves, in ms: its duration. When the duration is unknown, it is
 * the longest audio that the account may upload, or all that is available if that is less.
 *
 * @param durationMs measured at the upload; null when it could not be measured
 * @returns undefined when the balance does not cover the session
 */
export function reservationFor(
  account: Pick<AccountWithLimits, 'balance_ms' | 'reserved_ms' | 'max_audio_ms'>,
  durationMs: number | null,
): number | undefined {
  const available = availableMs(account);
  if (available <= 0 || available < (durationMs ?? 0)) return undefined;
  return durationMs ?? Math.min(account.max_audio_ms, available);
}

/** Adds `ms` to what the account has reserved; a negative `ms` gives back. The caller holds the account's lock. */
export async function changeReserved(trx: Trx, id: string, ms: number): Promise<void> {
  if (ms !== 0) await updateAccount(trx, id, { reserved_ms: sql<number>`reserved_ms + ${ms}` });
}

export function listPlans(db: Queryable): Promise<PlanTable[]> {
  return db.selectFrom('plans').selectAll().orderBy('queued_sessions').execute();
}

/** Changes limits of a plan, for every account without limits of its own. Undefined when there is no such plan. */
export function setPlanLimits(db: Queryable, plan: string, limits: Partial<Limits>): Promise<PlanTable | undefined> {
  return db.updateTable('plans').set(limits).where('plan', '=', plan).returningAll().executeTakeFirst();
}
