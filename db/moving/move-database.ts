/**
 * All rows from one database to another, in one transaction of each: the target has all of them, or is as empty as before. And
 * whether a database may be filled with what another one holds.
 */
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { openConnection } from '../connection/database.ts';
import { oldestMajor, readServer } from '../connection/server.ts';
import { queueSchema } from '../queue-tables.ts';
import type { Queryable } from '../connection/database.ts';

type Connection = ReturnType<typeof openConnection>;

export interface MoveOptions {
  /** Leads to a server itself. Both have the tables of this version. */
  from: string;
  to: string;
  /** What the target's audio store is marked with. */
  storeId: string;
  /** Runs when everything is there and about to be committed. */
  beforeCommit(): Promise<void>;
  /** @param share of the whole, from 0 to 1 */
  onProgress(share: number): void;
  /** Ends it between two tables. */
  signal: AbortSignal;
}

export type MoveResult = Awaited<ReturnType<typeof moveDatabase>>;

const name = 'transcription moves';
const lockMs = 5_000;

/**
 * Nobody can write to the source meanwhile. Only its rows for `version` numbers stay behind.
 *
 * @throws with SQLSTATE 55P03 when another session writes to the source already
 * @throws the reason of `signal`; then nothing was moved
 */
export async function moveDatabase(moving: MoveOptions) {
  const [from, to] = [openConnection(moving.from, { name }), openConnection(moving.to, { name })];
  try {
    for (const connection of [from, to]) {
      await connection.connect();
      await withoutLimits(connection);
    }
    return await moveRows({ from, to }, moving);
  } finally {
    await Promise.all([from.end(), to.end()]);
  }
}

async function moveRows(both: { from: Connection; to: Connection }, moving: MoveOptions) {
  const { from, to } = both;
  const tables = await listTables(from);
  const names = tables.map((table) => table.name).join(', ');
  await from.query('begin isolation level repeatable read, read only');
  await from.query(`set local lock_timeout = ${lockMs}`);
  await from.query(`lock table ${names} in share mode`);
  await to.query('begin');
  // What migrations and the queue put there when they made the tables.
  for (const table of tables.toReversed()) await to.query(`delete from ${table.name}`);
  const reach = progressOf(tables, moving.onProgress);
  let rows = 0;
  for (const table of tables) {
    moving.signal.throwIfAborted();
    // A partitioned table gives its rows to a query only.
    const out = from.query(copyTo(`copy (select ${table.columns} from ${table.name}) to stdout`));
    const into = to.query(copyFrom(`copy ${table.name} (${table.columns}) from stdin`));
    await pipeline(out, reach(table), into);
    rows += into.rowCount;
  }
  await copySequences(both);
  await to.query('update audio_store set store_id = $1, is_written = true', [moving.storeId]);
  await to.query('set constraints all immediate');
  await moving.beforeCommit();
  await to.query('commit');
  await to.query(`analyze ${names}`);
  return { tables: tables.length, rows };
}

/** A row takes another number of bytes on its way than in its table: no table counts for more than it has. */
function progressOf(tables: readonly Table[], onProgress: (share: number) => void) {
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  let ended = 0;
  return ({ bytes }: Table) => {
    const before = ended;
    let copied = 0;
    ended += bytes;
    return async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        copied = Math.min(copied + chunk.length, bytes);
        onProgress((before + copied) / total);
        yield chunk;
      }
    };
  };
}

/** Of those that this server knows. Whatever was set for the role, a large table takes its time. */
async function withoutLimits(connection: Connection): Promise<void> {
  await connection.query(
    `select set_config(name, '0', false) from pg_settings where name in
      ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout', 'lock_timeout')`,
  );
}

/** A table of the service or of its queue, as the server knows it. */
interface Table {
  /** As SQL takes it. */
  name: string;
  columns: string;
  bytes: number;
  /** Names of tables whose rows its own refer to. */
  refersTo: string[];
}

/** Which migrations ran and which version the queue has: the target has made these itself. */
const ofVersions = ['kysely_migration', 'kysely_migration_lock', 'version'];
const schemas = `(current_schema(), '${queueSchema}')`;
const root = (table: string) => `coalesce(pg_partition_root(${table}), ${table})`;

/** In an order in which their rows can be put into empty tables. A partitioned table is one. */
async function listTables(connection: Connection): Promise<Table[]> {
  const { rows } = await connection.query<Table>(
    `select c.oid::regclass::text as name,
      (select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
      (select coalesce(sum(pg_table_size(p.oid)), 0)::float8 from pg_class p where ${root('p.oid')} = c.oid) as bytes,
      array(select distinct ${root('confrelid')}::regclass::text from pg_constraint
        where contype = 'f' and ${root('conrelid')} = c.oid and ${root('confrelid')} <> c.oid) as "refersTo"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ${schemas} and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all ($1)
    order by name`,
    [ofVersions],
  );
  return inOrder(rows);
}

function inOrder(tables: readonly Table[]): Table[] {
  const ordered: Table[] = [];
  const isPlaced = (name: string) => ordered.some((table) => table.name === name);
  while (ordered.length < tables.length) {
    const next = tables.filter(({ name, refersTo }) => !isPlaced(name) && refersTo.every(isPlaced));
    if (next.length === 0) throw new Error('tables refer to each other in a circle');
    ordered.push(...next);
  }
  return ordered;
}

/** Sets what counts up where the other server has it. */
async function copySequences({ from, to }: { from: Connection; to: Connection }): Promise<void> {
  const { rows } = await from.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ${schemas} and c.relkind = 'S'`,
  );
  for (const { name } of rows) {
    const { rows: found } = await from.query<{ last: string; called: boolean }>(
      `select last_value::text as last, is_called as called from ${name}`,
    );
    await to.query('select setval($1::regclass, $2::bigint, $3)', [name, found[0]!.last, found[0]!.called]);
  }
}

/** Why the service can't have its tables there, as a sentence; undefined when it can, or has them. It changes nothing. */
export async function unsuitableReason(db: Queryable): Promise<string | undefined> {
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
  /** A table or view that is not ours. */
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
