/** A database whose operator likes dates in another order. */
import { sql } from 'kysely';
import { openConnection, openDatabase } from '../../db/connection/database.ts';
import { checkConnections, setRoleDefaults } from '../../db/connection/pooler.ts';
import { atEnd } from '../support/at-end.ts';
import { createTestDatabase } from '../support/service/database.ts';

let url: string;
beforeAll(async () => {
  const database = await createTestDatabase();
  atEnd(database.drop);
  url = database.url;
  const connection = openConnection(url);
  await connection.connect();
  await connection.query(`alter database ${new URL(url).pathname.slice(1)} set DateStyle to 'German'`);
  await connection.end();
});

async function asked(isPooled: boolean) {
  const { db, close } = openDatabase(url, () => {}, { isPooled });
  try {
    const { rows } = await sql<{ text: string }>`select '2026-11-24T10:00:00Z'::timestamptz::text as text`.execute(db);
    const verdict = await checkConnections(db, isPooled).catch((error: Error) => error.message);
    return { text: rows[0]!.text, verdict };
  } finally {
    await close();
  }
}

test('a connection of ours → answers times by ISO 8601 all the same', async () => {
  expect((await asked(false)).text).toBe('2026-11-24 10:00:00+00');
});

test('behind a pooler, which passes nothing on → refused at the start, until the role has its defaults', async () => {
  expect((await asked(true)).verdict).toContain('DateStyle German, DMY instead of ISO');
  const { db, close } = openDatabase(url, () => {});
  await setRoleDefaults(db);
  await close();
  expect(await asked(true)).toEqual({ text: '2026-11-24 10:00:00+00', verdict: undefined });
});
