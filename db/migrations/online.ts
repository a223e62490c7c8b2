/**
 * Changes of tables that are large and in use. Each statement is committed by itself and may be repeated, because the
 * process can be killed between any two of them.
 */
import { sql } from 'kysely';
import type { QueryExecutorProvider } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * A migration that runs outside of a transaction. It is not marked as done before it ends, so it begins again from its
 * first statement after it was interrupted: every statement must bear that.
 */
export interface OnlineMigration extends Migration {
  readonly inSteps: true;
}

export const isInSteps = (migration: Migration): migration is OnlineMigration => 'inSteps' in migration;

/**
 * Whoever waits for an ALTER TABLE makes all others wait who come after it. So a migration waits this long, lets the
 * others go first and tries again. It has to be longer than `deadlock_timeout` (1 s): only then does an autovacuum that
 * is in the way give way.
 */
const lockTimeoutMs = 2_000;

/** @param db a single connection */
export async function limitWaits(db: QueryExecutorProvider): Promise<void> {
  await sql`set lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(db);
}

/**
 * Makes an index while the table is read and written. One that an interrupted run has left unfinished is removed before.
 * It waits for every transaction that is older, however long that takes, and nobody waits for it.
 *
 * @param db a single connection, outside of a transaction
 * @param definition what follows the name: `on sessions (account_id)`
 */
export async function makeIndex(db: QueryExecutorProvider, name: string, definition: string): Promise<void> {
  await sql`set lock_timeout = 0`.execute(db);
  const { rows } = await sql`select from pg_index where indexrelid = to_regclass(${name}) and not indisvalid`.execute(
    db,
  );
  if (rows.length > 0) await sql`drop index concurrently ${sql.id(name)}`.execute(db);
  await sql`create index concurrently if not exists ${sql.id(name)} ${sql.raw(definition)}`.execute(db);
  await limitWaits(db);
}
