import { deleteFinalSessions, deleteSessionsOfAccount } from '../../db/account-erasure.ts';
import { inAccountTransaction } from '../../db/account-transaction.ts';
import { changeReserved, markAccountDeleted } from '../../db/accounts.ts';
import { deleteApiKeys, listApiKeys } from '../../db/api-keys.ts';
import { deleteIdempotencyRecords } from '../../db/idempotency.ts';
import { eraseLedgerText } from '../../db/ledger.ts';
import type { Foundation } from '../context.ts';

/** Each takes a second or so: however many sessions there are, no statement runs into its time limit. */
const sessionsAtATime = 5_000;

export type AccountErasure =
  | { kind: 'erased'; sessions: number; keys: number }
  /** The rows are gone; the worker's sweep removes what no row needs. */
  | { kind: 'audio_left'; error: Error }
  | { kind: 'erased_before' }
  | { kind: 'unknown' };

/**
 * Erases an account: first, part by part, the sessions that are final, then in one transaction the others, keys,
 * idempotency records and name, then the audio. The ledger stays, without text. Interrupted, it goes on when it is asked
 * for again.
 */
export async function eraseAccount(
  { db, queue, audioStore }: Pick<Foundation, 'db' | 'queue' | 'audioStore'>,
  id: string,
): Promise<AccountErasure> {
  let sessions = 0;
  for (let part = sessionsAtATime; part === sessionsAtATime; sessions += part) {
    part = await inAccountTransaction(db, id, (trx) => deleteFinalSessions(trx, id, sessionsAtATime));
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
    await eraseLedgerText(trx, id);
    await markAccountDeleted(trx, id);
    return { kind: 'erased', sessions: sessions + deleted, keys: keys.length };
  });
  if (erased.kind !== 'erased') return erased;
  return audioStore.removeAccount(id).then(
    () => erased,
    (error: Error) => ({ kind: 'audio_left', error }),
  );
}
