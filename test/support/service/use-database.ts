/** For files that test `db/` without a service. */
import { openDatabase } from '../../../db/connection/database.ts';
import { atEnd } from '../at-end.ts';
import { createTestDatabase } from './database.ts';
import type { Database } from '../../../db/connection/database.ts';

/** A database of the file's own, dropped after its tests. */
export async function useDatabase(): Promise<Database & { url: string }> {
  const { url, drop } = await createTestDatabase();
  atEnd(drop);
  const database = openDatabase(url, () => {});
  atEnd(database.close);
  return { ...database, url };
}
