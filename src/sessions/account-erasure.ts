import { deleteFinalSessions, deleteSessionsOfAccount } from '../../db/sessions/removal.ts';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { deleteLanguages } from '../../db/search/passages.ts';
import { changeReserved, markAccountDeleted } from '../../db/accounts/accounts.ts';
import { deleteApiKeys, listApiKeys } from '../../db/accounts/api-keys.ts';
import { deleteIdempotencyRecords } from '../../db/sessions/idempotency.ts';
import { eraseLedgerText } from '../../db/accounts/ledger.ts';
import type { Trx } from '../../db/connection/database.ts';
import type { AppContext } from './app-context.ts';

/** About a second's work. So no statement runs into its time limit, however many sessions there are. */
const sessionsAtATime = 5_000;

export type AccountErasure =
  | { kind: 'erased'; sessions: number; keys: number }
  /** The rows are erased, but some audio could not be removed. The worker's sweep removes it. */
  | { kind: 'audio_left'; error: Error }
  | { kind: 'erased_before' }
  | { kind: 'unknown' };

/** What one transaction of an erasure deletes. */
export interface ErasedPart {
  sessions: number;
  /** Only in the last part. */
  keys?: number;
}

/**
 * Erases an account. First its final sessions are deleted in parts. Then one transaction deletes its other sessions,
 * keys, idempotency records and its name. Then the audio is removed. The ledger stays, without its text. When it was
 * interrupted, calling it again goes on.
 * @param record is called in each transaction that deletes something, at its end: for support's log
 */
export async function eraseAccount(
  { db, queue, audioStore }: Pick<AppContext, 'db' | 'queue' | 'audioStore'>,
  id: string,
  record: (trx: Trx, part: ErasedPart) => Promise<void> = async () => {},
): Promise<AccountErasure> {
  let sessions = 0;
  for (let part = sessionsAtATime; part === sessionsAtATime; sessions += part) {
    part = await inAccountTransaction(db, id, async (trx) => {
      const deleted = await deleteFinalSessions(trx, id, sessionsAtATime);
      if (deleted > 0) await record(trx, { sessions: deleted });
      return deleted;
    });
  }
  const erased = await inAccountTransaction<AccountErasure>(db, id, async (trx, account) => {
    if (account === undefined) return { kind: 'unknown' };
    if (account.deleted_at !== null) return { kind: 'erased_before' };
    const { deleted, queueJobIds } = await deleteSessionsOfAccount(trx, id);
    for (const jobId of queueJobIds) await queue.cancel(trx, jobId);
    await changeReserved(trx, id, -account.reserved_ms);
    const keys = await listApiKeys(trx, id);
    await deleteApiKeys(trx, id);
    await deleteIdempotencyRecords(trx, id);
    await deleteLanguages(trx, id);
    await eraseLedgerText(trx, id);
    await markAccountDeleted(trx, id);
    await record(trx, { sessions: deleted, keys: keys.length });
    return { kind: 'erased', sessions: sessions + deleted, keys: keys.length };
  });
  if (erased.kind !== 'erased') return erased;
  return audioStore.removeAccount(id).then(
    () => erased,
    (error: Error) => ({ kind: 'audio_left', error }),
  );
}
