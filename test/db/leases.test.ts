import { sql } from 'kysely';
import { findSharedLanguages, shareLanguages } from '../../db/leases.ts';
import { useDatabase } from '../support/service/use-database.ts';

const { db } = await useDatabase();

test('what workers say of their languages → all of them together; unknown where nobody has said, one does not know, or it was long ago', async () => {
  expect(await findSharedLanguages(db)).toBeUndefined();
  await shareLanguages(db, ['fr', 'en']);
  await shareLanguages(db, ['fr', 'en']);
  await shareLanguages(db, ['en', 'de']);
  expect(await findSharedLanguages(db)).toEqual(['de', 'en', 'fr']);
  await shareLanguages(db, undefined);
  expect(await findSharedLanguages(db)).toBeUndefined();
  const age = sql`update leases set taken_at = taken_at - interval '11 minutes' where name not like '%en,de'`;
  await age.execute(db);
  expect(await findSharedLanguages(db)).toEqual(['de', 'en']);
});
