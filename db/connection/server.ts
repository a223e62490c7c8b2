/** What a database server says of itself and of who is connected to it. All of it is asked of the server, not of a pooler. */
import { sql } from 'kysely';
import { applicationName, listenerName } from './database.ts';
import { isDatabaseUnavailable } from './database-errors.ts';
import type { Queryable } from './database.ts';

/** The oldest version that the service can use. */
export const oldestMajor = 13;

export interface Server {
  /** Such as `17.2 (Debian 17.2-1)`. */
  version: string;
  /** Such as 17. */
  major: number;
  /** ms since the epoch, by its clock. */
  now: number;
}

export async function readServer(db: Queryable): Promise<Server> {
  const { rows } = await sql<Server>`select current_setting('server_version') as version,
    current_setting('server_version_num')::int / 10000 as major,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now`.execute(db);
  return rows[0]!;
}

/** A standby follows its primary and can only be read. */
export async function isStandby(db: Queryable): Promise<boolean> {
  const { rows } = await sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`.execute(db);
  return rows[0]!.standby;
}

/**
 * Whether a standby broke off what only read: its primary had cleaned up rows that the snapshot still needed, and the
 * standby waits with that for `max_standby_streaming_delay` only. Within a statement it says so (SQLSTATE 40001), between
 * two it just ends the connection.
 */
export const isBrokenOff = (error: unknown): boolean =>
  isDatabaseUnavailable(error) || (Error.isError(error) && 'code' in error && error.code === '40001');

/** With an id behind it, by which the server knows all connections of a worker's queue. */
export const workerName = 'transcription-worker';

/** How many processes of the service are connected. */
export interface Serving {
  apis: number;
  workers: number;
}

export async function countServing(db: Queryable): Promise<Serving> {
  const { rows } = await sql<Serving>`select
    count(*) filter (where application_name = ${listenerName}) as apis,
    count(distinct application_name) filter (where application_name like ${`${workerName} %`}) as workers
    from pg_stat_activity where datname = current_database()`.execute(db);
  return rows[0]!;
}

/** What a process may open: its pool, the queue's and one that listens for each role. The operator's guide says it, too. */
export const mostConnections = 25;
/** Of those, what leads past a pooler. */
export const mostDirectConnections = 5;

export interface ConnectionRoom {
  /** As many as anybody but a superuser may open. */
  limit: number;
  open: number;
  /** Of those, what processes and commands of the service have opened. */
  ours: number;
}

/** Without the connection that asks. */
export async function readConnectionRoom(db: Queryable): Promise<ConnectionRoom> {
  const { rows } = await sql<ConnectionRoom>`select
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as limit,
    count(*)::int as open, (count(*) filter (where application_name = ${applicationName}))::int as ours
    from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`.execute(db);
  return rows[0]!;
}
