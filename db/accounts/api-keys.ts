import { sql } from 'kysely';
import { NamedQuery } from '../connection/named-query.ts';
import { effectiveLimits } from './accounts.ts';
import type { Insertable, Selectable } from 'kysely';
import type { Queryable, Trx } from '../connection/database.ts';
import type { ApiKeyTable, Limits, Scope } from '../schema.ts';

export type ApiKey = Omit<Selectable<ApiKeyTable>, 'digest'>;

/** Whom a valid key belongs to, and what it may do. */
export interface KeyOwner extends Limits {
  key_id: string;
  account_id: string;
  scopes: Scope[];
  /** Milliseconds until the key expires, by the database's clock; null for a key that does not. */
  expires_in_ms: number | null;
  eligible: boolean;
  suspended: boolean;
}

const isValid = sql<boolean>`revoked_at is null and (expires_at is null or expires_at > clock_timestamp())`;

const validKeys = (db: Queryable) => db.selectFrom('api_keys').where(isValid);

const shown = [
  'id',
  'account_id',
  'prefix',
  'last_four',
  'label',
  'scopes',
  'expires_at',
  'revoked_at',
  'created_at',
] as const;

export function insertApiKey(db: Queryable, key: Insertable<ApiKeyTable>): Promise<ApiKey> {
  return db.insertInto('api_keys').values(key).returning(shown).executeTakeFirstOrThrow();
}

export function listApiKeys(db: Queryable, accountId: string): Promise<ApiKey[]> {
  return db
    .selectFrom('api_keys')
    .select(shown)
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export function findApiKeys(
  db: Queryable,
  by: { id: string } | { prefix: string } | { digest: Buffer },
): Promise<ApiKey[]> {
  const [column, value] = Object.entries(by)[0] as ['id' | 'prefix' | 'digest', string | Buffer];
  return db.selectFrom('api_keys').select(shown).where(column, '=', value).limit(20).execute();
}

/** @returns undefined when there is no such key, or it was revoked before; then nothing was changed */
export function revokeApiKey(db: Queryable, id: string): Promise<ApiKey | undefined> {
  return db
    .updateTable('api_keys')
    .set({ revoked_at: sql<string>`now()` })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning(shown)
    .executeTakeFirst();
}

/**
 * Lets a valid key expire in `graceMs`, by the database's clock, or earlier where it would have.
 *
 * @returns undefined when the key is not valid; then nothing was changed
 */
export function endKeyIfActive(trx: Trx, accountId: string, id: string, graceMs: number): Promise<ApiKey | undefined> {
  const end = sql<string>`clock_timestamp() + ${graceMs} * interval '1 ms'`;
  return trx
    .updateTable('api_keys')
    .set({ expires_at: sql<string>`least(expires_at, ${end})` })
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where(isValid)
    .returning(shown)
    .executeTakeFirst();
}

export async function deleteApiKeys(trx: Trx, accountId: string): Promise<void> {
  await trx.deleteFrom('api_keys').where('account_id', '=', accountId).execute();
}

/** The owner of a key by the SHA-256 of the key's secret; undefined for a key that is unknown, revoked or expired. */
export async function findKeyOwner(db: Queryable, digest: Buffer): Promise<KeyOwner | undefined> {
  const [owner] = await ownerOfKey.run(db, { digest });
  return owner;
}

const ownerOfKey = new NamedQuery<{ digest: Buffer }, KeyOwner>('owner-of-key', (db, parameter) =>
  validKeys(db)
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .innerJoin('plans', 'plans.plan', 'accounts.plan')
    .where('digest', '=', parameter('digest'))
    .where('accounts.deleted_at', 'is', null)
    .select((eb) => [
      'api_keys.id as key_id',
      'api_keys.account_id',
      'scopes',
      sql<number | null>`(extract(epoch from expires_at - clock_timestamp()) * 1000)::bigint`.as('expires_in_ms'),
      'plans.eligible',
      eb('accounts.suspended_at', 'is not', null).$castTo<boolean>().as('suspended'),
    ])
    .select(effectiveLimits),
);

/** Whether the key may still be used. It is asked again in the transaction that accepts an upload. */
export async function isKeyValid(trx: Trx, accountId: string, keyId: string): Promise<boolean> {
  const key = await validKeys(trx)
    .where('api_keys.account_id', '=', accountId)
    .where('api_keys.id', '=', keyId)
    .select('api_keys.id')
    .executeTakeFirst();
  return key !== undefined;
}
