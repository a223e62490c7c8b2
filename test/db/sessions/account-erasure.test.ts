import { sql } from 'kysely';
import { deleteFinalSessions } from '../../../db/sessions/account-erasure.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { useDatabase } from '../../support/service/use-database.ts';
import { makeSession } from '../../support/service/sessions.ts';

const database = await useDatabase();

test('final sessions are deleted part by part → never more than asked for, oldest first, none of others or in work', async () => {
  const { db } = database;
  const [erased, other] = [await makeAccount(db), await makeAccount(db)];
  const make = (accountId: string, status: 'queued' | 'processing' | 'completed' | 'failed', day: number) =>
    makeSession(db, accountId, { status, createdAt: `2026-01-0${day}T00:00:00Z` });
  const inWork = [await make(erased.id, 'queued', 1), await make(erased.id, 'processing', 1)];
  const [oldest, middle, newest] = [
    await make(erased.id, 'completed', 2),
    await make(erased.id, 'failed', 3),
    await make(erased.id, 'completed', 4),
  ];
  const theirs = await make(other.id, 'completed', 1);
  const left = async () => {
    const { rows } = await sql<{ id: string }>`select id from sessions`.execute(db);
    return new Set(rows.map(({ id }) => id));
  };
  const idsOf = (...sessions: { id: string }[]) => new Set(sessions.map(({ id }) => id));
  const part = () => inTransaction(db, (trx) => deleteFinalSessions(trx, erased.id, 2));

  expect(await left()).toEqual(idsOf(...inWork, oldest, middle, newest, theirs));
  expect(await part()).toBe(2);
  expect(await left()).toEqual(idsOf(...inWork, newest, theirs));
  expect(await part()).toBe(1);
  expect(await part()).toBe(0);
  expect(await left()).toEqual(idsOf(...inWork, theirs));
  const { rows } = await sql<{ session_id: string }>`select session_id from transcripts`.execute(db);
  expect(rows.map((row) => row.session_id)).toEqual([theirs.id]);
});
