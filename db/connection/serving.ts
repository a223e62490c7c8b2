/** Which processes of the service are connected to a database, by the names that their connections give themselves. */
import { sql } from 'kysely';
import { listenerName } from './database.ts';
import type { Queryable } from './database.ts';

/** With an id behind it, all connections of a worker's queue. */
export const workerName = 'transcription-worker';

export interface Serving {
  apis: number;
  workers: number;
}

/** @param db leads to the server itself */
export async function countServing(db: Queryable): Promise<Serving> {
  const { rows } = await sql<Serving>`select
    count(*) filter (where application_name = ${listenerName}) as apis,
    count(distinct application_name) filter (where application_name like ${`${workerName} %`}) as workers
    from pg_stat_activity where datname = current_database()`.execute(db);
  return rows[0]!;
}
