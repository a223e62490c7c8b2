import { deleteFinalSessions, deleteSessionsOfAccount } from '../../db/account-erasure.ts';
import { changeReserved, markAccountDeleted } from '../../db/accounts.ts';
import { deleteApiKeys, listApiKeys } from '../../db/api-keys.ts';
import { deleteIdempotencyRecords } from '../../db/idempotency.ts';
import { eraseLedgerText } from '../../db/ledger.ts';
import { changeAccount, getAccount } from './account-lookup.ts';
import { Refusal } from './refusal.ts';
import type { AdminContext } from './admin-context.ts';

/** Each takes a second or so: however many sessions there are, no statement runs into its time limit. */
const sessionsAtATime = 5_000;

/**
 * Erases an account: first, part by part, the sessions that are final, then in one transaction the others, keys,
 * idempotency records and name, then the audio. The ledger stays, without text. Interrupted, it goes on when it is typed
 * again.
 *
 * @throws {Refusal} when there is no such account, it was deleted before, or audio could not be removed
 */
export async function eraseAccount(admin: AdminContext, id: string): Promise<{ sessions: number; keys: number }> {
  await getAccount(admin.db, id);
  const queue = await admin.queue();
  let sessions = 0;
  for (let part = sessionsAtATime; part === sessionsAtATime; sessions += part) {
    part = await changeAccount(admin.db, id, (trx) => deleteFinalSessions(trx, id, sessionsAtATime));
  }
  const erased = await changeAccount(admin.db, id, async (trx, account) => {
    const { deleted, queueJobIds } = await deleteSessionsOfAccount(trx, id);
    for (const jobId of queueJobIds) await queue.cancel(trx, jobId);
    await changeReserved(trx, id, -account.reserved_ms);
    const keys = await listApiKeys(trx, id);
    await deleteApiKeys(trx, id);
    await deleteIdempotencyRecords(trx, id);
    await eraseLedgerText(trx, id);
    await markAccountDeleted(trx, id);
    return { sessions: sessions + deleted, keys: keys.length };
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
