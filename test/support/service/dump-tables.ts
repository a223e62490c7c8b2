import { sql } from 'kysely';
import type { Db } from '../../../db/connection/database.ts';

/** Every row of every table of ours and the queue's, as text, by table. */
export async function dumpTables(db: Db): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`.execute(db);
  const dump = new Map<string, string>();
  for (const { name } of rows) {
    const { rows: texts } = await sql
      .raw<{ text: string }>(`select t::text as text from ${name} t order by 1`)
      .execute(db);
    dump.set(name, texts.map(({ text }) => text).join('\n'));
  }
  return dump;
}
