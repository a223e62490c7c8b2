import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { applicationName } from './database.ts';
import type { Queryable } from './database.ts';

/** What a process may open: its pool, the queue's, one that listens and those that watch. The operator's guide says it, too. */
export const mostConnections = 28;
/** Of those, what leads past a pooler. */
export const mostDirectConnections = 6;

export interface ConnectionRoom {
  /** As many as anybody but a superuser may open. */
  limit: number;
  open: number;
  /** Of those, what processes and commands of the service have opened. */
  ours: number;
}

/** Without the connection that asks. @param db leads to the server itself */
export async function readConnectionRoom(db: Queryable): Promise<ConnectionRoom> {
  const { rows } = await sql<ConnectionRoom>`select
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as limit,
    count(*)::int as open, (count(*) filter (where application_name = ${applicationName}))::int as ours
    from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`.execute(db);
  return rows[0]!;
}

/** The server counts connections that were just closed for another moment, such as those of the start itself. */
const pausesMs = [100, 1_000];

/**
 * Whether the server may run out of connections when this process opens all of its own beside those of all others.
 * @param db leads to the server itself
 * @returns what to tell the operator; undefined when there is room
 */
export async function lackOfConnections(db: Queryable, needed: number): Promise<string | undefined> {
  let { limit, open } = await readConnectionRoom(db);
  for (const pauseMs of pausesMs) {
    if (open + needed <= limit) return undefined;
    await pause(pauseMs);
    ({ limit, open } = await readConnectionRoom(db));
  }
  if (open + needed <= limit) return undefined;
  return `the database takes ${limit} connections and has ${open}; this process may open ${needed}: raise max_connections, or put a pooler before it`;
}
