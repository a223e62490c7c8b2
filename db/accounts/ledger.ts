import { randomUUIDv7 } from 'node:crypto';
import { sql } from 'kysely';
import { updateAccount } from './accounts.ts';
import type { Selectable } from 'kysely';
import type { Queryable, Trx } from '../connection/database.ts';
import type { LedgerTable } from '../schema.ts';

export type LedgerEntry = Selectable<LedgerTable>;

type NewEntry = { accountId: string; amountMs: number } & (
  | { kind: 'credit'; reference?: string | undefined }
  | { kind: 'correction'; reason: string; reference?: string | undefined }
  | { kind: 'charge'; sessionId: string }
);

/**
 * Adds a row to the ledger and its amount to the balance. Rows of the ledger never change. The caller holds the
 * account's lock.
 *
 * @returns false when the account already has an entry with this reference; then nothing was changed
 * @throws a unique violation when the session was charged before
 * @throws a check violation when the balance would leave the safe integers
 */
export async function addLedgerEntry(trx: Trx, entry: NewEntry): Promise<boolean> {
  const reference = 'reference' in entry ? (entry.reference ?? null) : null;
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('ledger')
    .values({
      account_id: entry.accountId,
      id: randomUUIDv7(),
      kind: entry.kind,
      amount_ms: entry.amountMs,
      session_id: 'sessionId' in entry ? entry.sessionId : null,
      reason: 'reason' in entry ? entry.reason : null,
      reference,
    })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'reference']).where('reference', 'is not', null).doNothing(),
    )
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n) return false;
  await updateAccount(trx, entry.accountId, { balance_ms: sql<number>`balance_ms + ${entry.amountMs}` });
  return true;
}

export function listLedger(db: Queryable, accountId: string): Promise<LedgerEntry[]> {
  return db
    .selectFrom('ledger')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export function findLedgerEntryByReference(
  db: Queryable,
  accountId: string,
  reference: string,
): Promise<LedgerEntry | undefined> {
  return db
    .selectFrom('ledger')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('reference', '=', reference)
    .executeTakeFirst();
}

/** Removes the texts from an erased account's ledger. The amounts stay. */
export async function eraseLedgerText(trx: Trx, accountId: string): Promise<void> {
  await trx
    .updateTable('ledger')
    .set({ reason: null, reference: null })
    .where('account_id', '=', accountId)
    .where((eb) => eb.or([eb('reason', 'is not', null), eb('reference', 'is not', null)]))
    .execute();
}
