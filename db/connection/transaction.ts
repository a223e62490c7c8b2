import { sql } from 'kysely';
import { isRefusedByServer, isServerLost } from './database-errors.ts';
import type { Db, Trx } from './database.ts';

/** The connection was lost during COMMIT. Nobody knows whether the transaction was committed. */
export class CommitOutcomeUnknown extends Error {
  constructor(cause: unknown) {
    super('The connection was lost while the transaction was being committed', { cause });
    this.name = 'CommitOutcomeUnknown';
  }
}

/**
 * Runs `work` in one READ COMMITTED transaction and commits it. When its server was demoted or ended before COMMIT was
 * sent, the transaction certainly rolled back, and `work` runs once more. So `work` may do nothing but SQL.
 *
 * @throws what `work` threw; certainly rolled back
 * @throws a refusal of the commit by the server; certainly rolled back
 * @throws {CommitOutcomeUnknown}
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

/** Runs `work` in a transaction that sees one moment and changes nothing. */
export function inSnapshot<T>(db: Db, work: (snapshot: Trx) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work);
}

/**
 * Runs `work` so that the rest of the transaction goes on when it fails. Then nothing of it is left.
 *
 * @returns what `work` threw
 * @throws when the connection is lost, too
 */
export async function tryInSavepoint(trx: Trx, work: () => Promise<void>): Promise<unknown> {
  await sql`savepoint attempted`.execute(trx);
  try {
    await work();
    await sql`release savepoint attempted`.execute(trx);
    return undefined;
  } catch (error) {
    await sql`rollback to savepoint attempted`.execute(trx);
    return error;
  }
}
