import { deleteSessionsOfAccount } from '../../db/account-erasure.ts';
import { changeReserved, markAccountDeleted } from '../../db/accounts.ts';
import { deleteApiKeys, listApiKeys } from '../../db/api-keys.ts';
import { deleteIdempotencyRecords } from '../../db/idempotency.ts';
import { eraseLedgerText } from '../../db/ledger.ts';
import { changeAccount, getAccount } from './account-lookup.ts';
import { Refusal } from './refusal.ts';
import type { AdminContext } from './admin-context.ts';

/**
 * Erases an account: sessions, transcripts, keys, idempotency records and name in one transaction, then the audio. The
 * ledger stays, without text.
 *
 * @throws {Refusal} when there is no such account, it was deleted before, or audio could not be removed
 */
export async function eraseAccount(admin: AdminContext, id: string): Promise<{ sessions: number; keys: number }> {
  await getAccount(admin.db, id);
  const queue = await admin.queue();
  const erased = await changeAccount(admin.db, id, async (trx, account) => {
    const { deleted, queueJobIds } = await deleteSessionsOfAccount(trx, id);
    for (const jobId of queueJobIds) await queue.cancel(trx, jobId);
    await changeReserved(trx, id, -account.reserved_ms);
    const keys = await listApiKeys(trx, id);
    await deleteApiKeys(trx, id);
    await deleteIdempotencyRecords(trx, id);
    await eraseLedgerText(trx, id);
    await markAccountDeleted(trx, id);
    return { sessions: deleted, keys: keys.length };
  });
  await admin.audioStore.removeAccount(id).catch(refuseLeftAudio);
  return erased;
}

/** The rows are gone by then, and the worker's sweep removes what no row needs. */
export function refuseLeftAudio(error: Error): never {
  throw new Refusal(
    `Everything is erased but audio on disk (${error.message}); a running worker removes it within two hours.`,
  );
}
