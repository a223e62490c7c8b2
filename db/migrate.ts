import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { migrations } from './migrations/index.ts';
import { areQueueTablesMade } from './queue-tables.ts';
import type { Db } from './database.ts';

/**
 * Brings the database to the newest version. Several processes may start at once: Kysely takes an advisory lock, and
 * all but the first find nothing to do.
 */
export async function migrateToLatest(db: Db): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error, results } = await migrator.migrateToLatest();
  if (error !== undefined) {
    const failed = results?.find((result) => result.status === 'Error')?.migrationName ?? 'before the first one';
    throw new Error(`The database could not be migrated (${failed})`, { cause: error });
  }
}

/**
 * Whether the tables of the service and of its queue have this version. `absent` means that the service was never
 * started. Changes nothing.
 */
export async function databaseVersion(db: Db): Promise<'this' | 'another' | 'absent'> {
  const made = sql<{ made: boolean }>`select
    to_regclass('kysely_migration') is not null and ${areQueueTablesMade} as made`;
  if (!(await made.execute(db)).rows[0]?.made) return 'absent';
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  const names = rows.map(({ name }) => name);
  return names.join() === Object.keys(migrations).sort().join() ? 'this' : 'another';
}

/** Whether the database answers, for readiness checks. */
export async function ping(db: Db): Promise<void> {
  await sql`select 1`.execute(db);
}
