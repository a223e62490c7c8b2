/** All rows from one database to another, in one transaction of each: the target has all of them, or is as empty as before. */
import { openConnection } from '../connection/database.ts';
import { copyRows } from './copy-rows.ts';
import { copySequences, listTables } from './tables.ts';
import type { Connection } from './copy-rows.ts';
import type { Table } from './tables.ts';

export interface Moving {
  /** Leads to a server itself. Both have the tables of this version. */
  from: string;
  to: string;
  /** What the target's audio store is marked with. */
  mark: string;
  /** Runs when everything is there and about to be committed. */
  beforeCommit(): Promise<void>;
  /** @param share of the whole, from 0 to 1 */
  onProgress(share: number): void;
  /** Ends it between two tables. */
  signal: AbortSignal;
}

export interface Moved {
  tables: number;
  rows: number;
}

const name = 'transcription moves';
const lockMs = 5_000;

/**
 * Nobody can write to the source meanwhile. Only its rows for `version` numbers stay behind.
 *
 * @throws with SQLSTATE 55P03 when somebody writes to the source already
 * @throws the reason of `signal`; then nothing was moved
 */
export async function moveDatabase(moving: Moving): Promise<Moved> {
  const [from, to] = [openConnection(moving.from, false, name), openConnection(moving.to, false, name)];
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

async function moveRows(both: { from: Connection; to: Connection }, moving: Moving): Promise<Moved> {
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
    const columns = `${table.name} (${table.columns})`;
    // A partitioned table gives its rows to a query only.
    const out = `copy (select ${table.columns} from ${table.name}) to stdout`;
    rows += await copyRows(both, { out, into: `copy ${columns} from stdin` }, reach(table));
  }
  await copySequences(both);
  await to.query('update audio_store set mark = $1, is_marked = true', [moving.mark]);
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
    return (more: number) => {
      copied = Math.min(copied + more, bytes);
      onProgress((before + copied) / total);
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
