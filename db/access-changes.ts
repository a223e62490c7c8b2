import type { Queryable } from './database.ts';

/** A counter that triggers move whenever a key, plan, suspension or limit changes. */
export async function readAccessVersion(db: Queryable): Promise<number> {
  const { version } = await db.selectFrom('access_changes').select('version').executeTakeFirstOrThrow();
  return version;
}
