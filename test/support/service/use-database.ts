import { openDatabase } from '../../../db/database.ts';
import { atEnd } from '../at-end.ts';
import { createTestDatabase } from './database.ts';
import type { Database } from '../../../db/database.ts';

/** For files that test `db/` without a service: a database of their own, filled before the first test. */
export function useDatabase(): Database & { url: string } {
  const database = {} as Database & { url: string };
  beforeAll(async () => {
    const { url, drop } = await createTestDatabase();
    atEnd(drop);
    Object.assign(
      database,
      openDatabase(url, () => {}),
      { url },
    );
    atEnd(database.close);
  });
  return database;
}
