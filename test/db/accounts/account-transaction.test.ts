import { sql } from 'kysely';
import { inAccountTransaction } from '../../../db/accounts/account-transaction.ts';
import { isDatabaseUnavailable } from '../../../db/connection/database-errors.ts';
import { openDatabase } from '../../../db/connection/database.ts';
import { CommitOutcomeUnknown } from '../../../db/connection/transaction.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { atEnd } from '../../support/at-end.ts';
import { useDatabase } from '../../support/service/use-database.ts';
import { lockWaits } from '../../support/service/lock-waits.ts';
import { until } from '../../support/until.ts';
import type { Database } from '../../../db/connection/database.ts';

const otherProcess = await useDatabase();
let ours: Database;
beforeAll(() => {
  ours = openDatabase(otherProcess.url, () => {}, { maxConnections: 2 });
  atEnd(ours.close);
});

/** Holds the account's lock in another process until it is let go. */
async function holdLock(accountId: string) {
  const [held, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ended = inAccountTransaction(otherProcess.db, accountId, () => {
    held.resolve();
    return letGo.promise;
  });
  await held.promise;
  return async () => {
    letGo.resolve();
    await ended;
  };
}

const oneWaits = () => until(async () => (await lockWaits(otherProcess.db)).length > 0);

test('another process holds the lock and many transactions come → one connection waits, others are served, all get their turn', async () => {
  const [busy, other] = [await makeAccount(ours.db), await makeAccount(ours.db)];
  const letGo = await holdLock(busy.id);
  const order: number[] = [];
  const all = Array.from({ length: 20 }, (_, i) =>
    inAccountTransaction(ours.db, busy.id, async () => void order.push(i)),
  );
  await oneWaits();
  // The pool has two connections.
  expect(await inAccountTransaction(ours.db, other.id, async (_, account) => account?.id)).toBe(other.id);
  expect(await lockWaits(otherProcess.db)).toHaveLength(1);
  await letGo();
  await Promise.all(all);
  expect(order).toEqual(Array.from({ length: 20 }, (_, i) => i));
});

test('one that fails → rolled back, and the next gets its turn', async () => {
  const { id } = await makeAccount(ours.db);
  const failing = inAccountTransaction(ours.db, id, async (trx) => {
    await trx.updateTable('accounts').set({ name: 'changed' }).where('id', '=', id).execute();
    throw new Error('not today');
  });
  const next = inAccountTransaction(ours.db, id, (trx) =>
    trx.selectFrom('accounts').select('name').where('id', '=', id).executeTakeFirst(),
  );
  await expect(failing).rejects.toThrow('not today');
  expect(await next).toEqual({ name: 'A company' });
});

test('the database goes away under the first → all behind it are told at once, and nobody afterwards', async () => {
  const { id } = await makeAccount(ours.db);
  const letGo = await holdLock(id);
  const all = Array.from({ length: 5 }, () =>
    inAccountTransaction(ours.db, id, async () => 'done').catch((error) => error),
  );
  await oneWaits();
  for (const pid of await lockWaits(otherProcess.db))
    await sql`select pg_terminate_backend(${pid})`.execute(otherProcess.db);
  const errors = (await Promise.all(all)) as unknown[];
  expect(errors.map(isDatabaseUnavailable)).toEqual(Array(5).fill(true));
  expect(errors.filter((error) => error instanceof CommitOutcomeUnknown)).toEqual([]);
  await letGo();
  expect(await inAccountTransaction(ours.db, id, async () => 'done')).toBe('done');
});

test('no such account → the transaction runs without one', async () => {
  const nobody = '00000000-0000-7000-8000-000000000000';
  expect(await inAccountTransaction(ours.db, nobody, async (_, account) => account)).toBeUndefined();
});
