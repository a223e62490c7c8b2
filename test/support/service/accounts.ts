/** Accounts and keys as support would make them. */
import { randomUUIDv7 } from 'node:crypto';
import { inAccountTransaction } from '../../../db/accounts/account-transaction.ts';
import { createAccount, updateAccount } from '../../../db/accounts/accounts.ts';
import { insertApiKey } from '../../../db/accounts/api-keys.ts';
import { addLedgerEntry } from '../../../db/accounts/ledger.ts';
import { digestOf, displayOf, newApiKey } from '../../../src/api/access/api-key.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { LimitOverrides, Scope } from '../../../db/schema.ts';

export interface TestAccount {
  id: string;
  /** An API key with both scopes. */
  key: string;
  keyId: string;
}

export interface NewTestAccount {
  plan?: string;
  balanceMs?: number;
  limits?: Partial<LimitOverrides>;
}

export async function makeAccount(
  db: Db,
  { plan = 'enterprise', balanceMs = 3_600_000, limits }: NewTestAccount = {},
): Promise<TestAccount> {
  const { id } = await createAccount(db, { id: randomUUIDv7(), name: 'A company', plan });
  if (balanceMs > 0) await credit(db, id, balanceMs);
  if (limits !== undefined) await updateAccount(db, id, limits);
  const { key, keyId } = await makeKey(db, id);
  return { id, key, keyId };
}

export async function credit(db: Db, accountId: string, amountMs: number): Promise<void> {
  await inAccountTransaction(db, accountId, async (trx) => {
    await addLedgerEntry(trx, { accountId, kind: 'credit', amountMs });
  });
}

export async function makeKey(
  db: Db,
  accountId: string,
  { scopes = ['read', 'write'], expiresAt = null }: { scopes?: Scope[]; expiresAt?: string | null } = {},
): Promise<{ key: string; keyId: string }> {
  const key = newApiKey();
  const keyId = randomUUIDv7();
  const row = { id: keyId, account_id: accountId, digest: digestOf(key), label: null, scopes, expires_at: expiresAt };
  await insertApiKey(db, { ...row, ...displayOf(key) });
  return { key, keyId };
}
