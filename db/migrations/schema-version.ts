/** What version of the service a database is of, by the migrations that ran on it and the tables of the queue. */
import { sql } from 'kysely';
import { migrations } from './index.ts';
import { areQueueTablesMade, readQueueTablesVersion } from '../queue-tables.ts';
import type { Db } from '../connection/database.ts';

export interface SchemaVersion {
  /** In the order of their names. */
  applied: { name: string; appliedAt: string }[];
  /** Of this program, and not of the database. */
  missing: string[];
  /** Of the database, and not of this program. */
  unknown: string[];
  /** pg-boss's own number; undefined where its tables were never made. */
  queueTables: number | undefined;
}

/** Changes nothing. */
export async function readSchemaVersion(db: Db): Promise<SchemaVersion> {
  const { rows: made } = await sql<{ tables: boolean; queue: boolean }>`select
    to_regclass('kysely_migration') is not null as tables, ${areQueueTablesMade} as queue`.execute(db);
  const { tables, queue } = made[0]!;
  const applied = tables ? await listApplied(db) : [];
  const names = new Set(applied.map(({ name }) => name));
  return {
    applied,
    missing: Object.keys(migrations).filter((name) => !names.has(name)),
    unknown: [...names].filter((name) => !(name in migrations)),
    queueTables: queue ? await readQueueTablesVersion(db) : undefined,
  };
}

async function listApplied(db: Db): Promise<SchemaVersion['applied']> {
  const { rows } = await sql<{ name: string; appliedAt: string }>`
    select name, timestamp as "appliedAt" from kysely_migration order by name`.execute(db);
  return rows;
}
