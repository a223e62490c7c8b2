/** Whether a database may be filled with what another one holds. */
import { sql } from 'kysely';
import { queueSchema } from '../queue-tables.ts';
import { readServer } from '../connection/server.ts';
import type { Queryable } from '../connection/database.ts';

const oldestMajor = 13;

/** Why the service can't have its tables there, as a sentence; undefined when it can, or has them. It changes nothing. */
export async function whyUnfit(db: Queryable): Promise<string | undefined> {
  const { major, version } = await readServer(db);
  if (major < oldestMajor) return `The new server is PostgreSQL ${version}; the service needs ${oldestMajor} or newer.`;
  const { rows } = await sql<Fitness>`select
    current_setting('server_encoding') as encoding, quote_ident(current_database()) as database, quote_ident(current_user) as login,
    has_database_privilege(current_database(), 'CREATE')
      and coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as "mayCreate",
    to_regclass('kysely_migration') is not null as "isOurs", (
      select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in (current_schema(), ${queueSchema}) and c.relkind in ('r', 'p', 'v', 'm', 'f')
        and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e') limit 1
    ) as "foreign"`.execute(db);
  const { encoding, database, login, mayCreate, isOurs, foreign } = rows[0]!;
  if (encoding !== 'UTF8') return `The new database has the encoding ${encoding}: make one with UTF8.`;
  if (!isOurs && foreign !== null) return `The new database is in use: it has ${foreign}. Make an empty one.`;
  if (!mayCreate)
    return `${login} may make no tables in the new database. Type there: alter database ${database} owner to ${login};`;
  return undefined;
}

interface Fitness {
  encoding: string;
  database: string;
  login: string;
  mayCreate: boolean;
  isOurs: boolean;
  /** A table or view of somebody else. */
  foreign: string | null;
}

/** Whether an account was made there, or support did something. */
export async function holdsData(db: Queryable): Promise<boolean> {
  for (const table of ['accounts', 'support_log']) {
    const { rows: made } = await sql<{ made: boolean }>`select to_regclass(${table}) is not null as made`.execute(db);
    if (!made[0]!.made) continue;
    const { rows } = await sql<{ any: boolean }>`select exists (select from ${sql.table(table)}) as any`.execute(db);
    if (rows[0]!.any) return true;
  }
  return false;
}
