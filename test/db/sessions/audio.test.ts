import { randomUUIDv7 } from 'node:crypto';
import { findAudioToRemove, markAudioDeletedIfUnneeded, whichHaveAudio } from '../../../db/sessions/audio.ts';
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

test('a session failed a week ago, and again now, after a sweep has found its audio → it keeps its audio for seven days', async () => {
  const { id } = await makeSession(database.db, accountId, { status: 'failed' });
  const failed = (at: string) =>
    database.db
      .updateTable('sessions')
      .set({ completed_at: at, audio_deleted_at: null })
      .where('id', '=', id)
      .execute();
  await failed(new Date(Date.now() - 8 * 86_400_000).toISOString());
  expect((await findAudioToRemove(database.db, 100)).map((found) => found.id)).toContain(id);
  await failed(new Date().toISOString());
  expect(await markAudioDeletedIfUnneeded(database.db, accountId, id)).toBe(false);
});
