import { isRefusedByServer } from './database.ts';
import { isServerLost } from './primary-only.ts';
import type { Db, Trx } from './database.ts';

/** The connection was lost during COMMIT: what the transaction did may or may not have happened. */
export class CommitOutcomeUnknown extends Error {
  constructor(cause: unknown) {
    super('The connection was lost while the transaction was being committed', { cause });
    this.name = 'CommitOutcomeUnknown';
  }
}

/**
 * Runs `work` in one READ COMMITTED transaction and commits it. When its server was demoted or ended before COMMIT was sent, so
 * that it certainly rolled back, all of it runs once more: it may do nothing but SQL.
 *
 * @throws what `work` threw (certainly rolled back), a refusal of the commit by the server (certainly rolled back), or
 *   {@link CommitOutcomeUnknown}
 */
export async function inTransaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  return runOnce(db, work).catch((error: unknown) => {
    if (isServerLost(error)) return runOnce(db, work);
    throw error;
  });
}

async function runOnce<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  let committing = false;
  try {
    return await db.transaction().execute(async (trx) => {
      const result = await work(trx);
      committing = true;
      return result;
    });
  } catch (error) {
    if (committing && !isRefusedByServer(error)) throw new CommitOutcomeUnknown(error);
    throw error;
  }
}
