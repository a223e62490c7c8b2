import { randomUUIDv7 } from 'node:crypto';
import { sql } from 'kysely';
import {
  deleteFinalSessions,
  findAudioToRemove,
  markAudioDeletedIfUnneeded,
  whichHaveAudio,
} from '../../../db/sessions/removal.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { useDatabase } from '../../support/service/use-database.ts';
import { makeSession } from '../../support/service/sessions.ts';

const database = await useDatabase();
let accountId: string;
beforeEach(async () => void (accountId = (await makeAccount(database.db)).id));

test('which of 70,000 files have a session → those of this account whose audio is not deleted', async () => {
  const kept = await makeSession(database.db, accountId);
  const gone = await makeSession(database.db, accountId, { status: 'completed' });
  await markAudioDeletedIfUnneeded(database.db, accountId, gone.id);
  const foreign = await makeSession(database.db, (await makeAccount(database.db)).id);
  const unknown = Array.from({ length: 70_000 }, () => randomUUIDv7());
  const ids = [kept.id, gone.id, foreign.id, ...unknown];
  expect(await whichHaveAudio(database.db, accountId, ids)).toEqual(new Set([kept.id]));
});

test('audio of unfinished sessions → never to be removed, never marked', async () => {
  const sessions = await Promise.all(
    (['queued', 'processing'] as const).map((status) => makeSession(database.db, accountId, { status })),
  );
  const removable = (await findAudioToRemove(database.db, 100)).filter(({ account_id }) => account_id === accountId);
  expect(removable).toEqual([]);
  for (const { id } of sessions) expect(await markAudioDeletedIfUnneeded(database.db, accountId, id)).toBe(false);
});

test('audio of a final session → marked once', async () => {
  const { id } = await makeSession(database.db, accountId, { status: 'completed' });
  expect((await findAudioToRemove(database.db, 100)).map((found) => found.id)).toContain(id);
  expect(await markAudioDeletedIfUnneeded(database.db, accountId, id)).toBe(true);
  expect(await markAudioDeletedIfUnneeded(database.db, accountId, id)).toBe(false);
  expect((await findAudioToRemove(database.db, 100)).map((found) => found.id)).not.toContain(id);
});

test('a session failed more than a week ago, and again later, after a sweep has found its audio → it keeps its audio for seven days', async () => {
  const { id } = await makeSession(database.db, accountId, { status: 'failed' });
  const failed = (at: string) =>
    database.db
      .updateTable('sessions')
      .set({ completed_at: at, audio_deleted_at: null })
      .where('id', '=', id)
      .execute();
  const weekAgo = Date.now() - 7 * 86_400_000;
  await failed(new Date(weekAgo - 60_000).toISOString());
  expect((await findAudioToRemove(database.db, 100)).map((found) => found.id)).toContain(id);
  await failed(new Date(weekAgo + 60_000).toISOString());
  expect(await markAudioDeletedIfUnneeded(database.db, accountId, id)).toBe(false);
});

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
    const { rows } = await sql<{ id: string }>`select id from sessions
      where account_id in (${erased.id}, ${other.id})`.execute(db);
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
  const { rows } = await sql<{ session_id: string }>`select session_id from transcripts
    where account_id in (${erased.id}, ${other.id})`.execute(db);
  expect(rows.map((row) => row.session_id)).toEqual([theirs.id]);
});
