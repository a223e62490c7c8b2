/**
 * Transactions that hold an account's lock. Nobody else can use a connection that waits for a lock. So in each process
 * only one transaction of an account runs at a time; the others wait in memory, in the order in which they came.
 */
import { lockAccount } from './accounts.ts';
import { isDatabaseUnavailable } from '../connection/database-errors.ts';
import { inTransaction } from '../connection/transaction.ts';
import type { AccountWithLimits } from './accounts.ts';
import type { Db, Trx } from '../connection/database.ts';

/** For each pool: the last transaction in the line of each account. It rejects with {@link DatabaseWentAway} only. */
const lines = new WeakMap<Db, Map<string, Promise<void>>>();

/**
 * The database went away during the transaction at the head of the line. All others in the line learn it at once,
 * instead of one after the other.
 */
class DatabaseWentAway extends Error {
  constructor(cause: unknown) {
    super('The database went away under an earlier transaction of the account', { cause });
    this.name = 'DatabaseWentAway';
  }
}

/**
 * Runs `work` in one READ COMMITTED transaction that has locked the account, and commits it. Whatever changes a
 * balance, a reservation or a session locks its account first. So all of them wait in one line, and none of them
 * deadlocks.
 *
 * @param work gets the account with the limits in force; undefined when there is no such account. It must not begin
 *   another transaction of the same account: that one would wait for this one for ever
 * @throws what {@link inTransaction} throws
 * @throws an error for which `isDatabaseUnavailable` holds
 */
export function inAccountTransaction<T>(
  db: Db,
  accountId: string,
  work: (trx: Trx, account: AccountWithLimits | undefined) => Promise<T>,
): Promise<T> {
  const line = lines.get(db) ?? new Map<string, Promise<void>>();
  lines.set(db, line);
  const run = () => inTransaction(db, async (trx) => work(trx, await lockAccount(trx, accountId)));
  const ended = line.get(accountId)?.then(run) ?? run();
  const last = ended.then(
    () => {},
    (error: unknown) => {
      if (error instanceof DatabaseWentAway) throw error;
      if (isDatabaseUnavailable(error)) throw new DatabaseWentAway(error);
    },
  );
  line.set(accountId, last);
  const leave = () => {
    if (line.get(accountId) === last) line.delete(accountId);
  };
  last.then(leave, leave);
  return ended;
}
