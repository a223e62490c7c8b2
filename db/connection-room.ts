import { sql } from 'kysely';
import type { Queryable } from './database.ts';

/** What a process may open: its pool, the queue's, one that listens and those that watch. The operator's guide says it, too. */
export const mostConnections = 28;
/** Of those, what leads past a pooler. */
export const mostDirectConnections = 6;

/**
 * Whether the server may run out of connections when this process opens all of its own beside those of all others.
 * @param db leads to the server itself
 * @returns what to tell the operator; undefined when there is room
 */
export async function lackOfConnections(db: Queryable, needed: number): Promise<string | undefined> {
  const { rows } = await sql<{ limit: number; open: number }>`select
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as limit,
    (select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()) as open`.execute(
    db,
  );
  const { limit, open } = rows[0]!;
  if (open + needed <= limit) return undefined;
  return `the database takes ${limit} connections and has ${open}; this process may open ${needed}: raise max_connections, or put a pooler before it`;
}
