import { sql } from 'kysely';
import type { Queryable } from '../../../db/connection/database.ts';

/** The server processes that wait for a lock in this database: each is a connection that nobody else can use. */
export async function lockWaits(db: Queryable): Promise<number[]> {
  // Within a transaction PostgreSQL would go on telling what it told first.
  await sql`select pg_stat_clear_snapshot()`.execute(db);
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.map(({ pid }) => pid);
}
