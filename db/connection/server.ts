/** What a database server says of itself. */
import { sql } from 'kysely';
import type { Queryable } from './database.ts';

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
