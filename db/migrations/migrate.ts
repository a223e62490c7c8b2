/** Brings the tables of the service to this version, while an older version may serve from them. */
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { openDatabase, patientTimeoutMs } from '../connection/database.ts';
import { DatabaseUnsupported } from '../connection/database-errors.ts';
import { migrations } from './index.ts';
import type { Migration } from 'kysely/migration';
import type { Db } from '../connection/database.ts';

/** Of those who migrate, by `pg_try_advisory_lock`. Kysely has a lock of its own. */
const lock = sql.lit(7_265_112_018_093n);
const lookAgainMs = 250;
/** With pauses from 1 s to 30 s that is a quarter of an hour. */
const maxTries = 30;
const pauseMs = (tries: number) => Math.min(1_000 * 2 ** (tries - 1), 30_000);
/**
 * Whoever waits for an ALTER TABLE makes all others wait who come after it. So a migration waits this long, lets the
 * others go first and tries again. It has to be longer than `deadlock_timeout` (1 s): only then does an autovacuum that
 * is in the way give way.
 */
const lockTimeoutMs = 2_000;

/**
 * Runs `work` under the migration lock: one process at a time. It gets the connection that holds the
 * lock, which ends with it, also when this process is killed.
 *
 * @param onWait told once when another process migrates
 */
export async function migrateAlone<T>(url: string, onWait: () => void, work: (db: Db) => Promise<T>): Promise<T> {
  const { db, close } = openDatabase(url, () => {}, { maxConnections: 1, timeoutMs: patientTimeoutMs });
  try {
    return await db.connection().execute(async (connection) => {
      await takeLock(connection, onWait);
      return work(connection);
    });
  } finally {
    await close();
  }
}

/**
 * Asks again and again: a statement that waited for the lock would hold a snapshot meanwhile, and indexes that are made
 * concurrently wait for every older snapshot.
 */
async function takeLock(connection: Db, onWait: () => void): Promise<void> {
  for (let told = false; ; told = true) {
    const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_lock(${lock}) as taken`.execute(connection);
    if (rows[0]!.taken) return;
    if (!told) onWait();
    await pause(lookAgainMs);
  }
}

/**
 * Runs the migrations that the database lacks, in their order.
 *
 * @param connection of {@link migrateAlone}
 * @param onNotice hears why it takes longer
 * @returns the names of those that ran
 * @throws {DatabaseUnsupported} those before it were made; when it is typed again, it goes on from there
 */
export async function runMigrations(
  connection: Db,
  onNotice: (message: string) => void,
  list: Readonly<Record<string, Migration>> = migrations,
): Promise<string[]> {
  await sql`set lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(connection);
  const migrator = new Migrator({ db: connection, provider: { getMigrations: async () => ({ ...list }) } });
  const ran: string[] = [];
  const missing = (await migrator.getMigrations()).filter(({ executedAt }) => executedAt === undefined);
  for (const { name } of missing) {
    for (let tries = 1; ; tries++) {
      const { error } = await migrator.migrateUp();
      if (error === undefined) break;
      if (!isLockTimeout(error) || tries === maxTries) throw failed(name, error);
      onNotice(`${name} waits for a table that is in use; others go first`);
      await pause(pauseMs(tries));
    }
    ran.push(name);
  }
  return ran;
}

/** SQLSTATE 55P03, `lock_not_available`. */
const isLockTimeout = (error: unknown) => (error as { code?: unknown }).code === '55P03';

function failed(name: string, error: unknown): DatabaseUnsupported {
  const reason = isLockTimeout(error)
    ? 'a transaction of another program holds its table for very long; end that and try again'
    : String(error);
  return new DatabaseUnsupported(`The database could not be migrated (${name}): ${reason}`, { cause: error });
}

/** Makes or migrates the tables of the service, without those of the queue. */
export async function migrateToLatest(url: string): Promise<void> {
  await migrateAlone(
    url,
    () => {},
    (connection) => runMigrations(connection, () => {}),
  );
}
