/** The tables of the service and of its queue, as the server knows them. */
import { queueSchema } from '../queue-tables.ts';
import type { Connection } from './copy-rows.ts';

export interface Table {
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
export async function listTables(connection: Connection): Promise<Table[]> {
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
export async function copySequences({ from, to }: { from: Connection; to: Connection }): Promise<void> {
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
