import { sql } from 'kysely';
import { openConnection } from '../../../db/connection/database.ts';
import { migrateAlone, runMigrations } from '../../../db/migrations/migrate.ts';
import { makeIndex } from '../../../db/migrations/online.ts';
import { migrations } from '../../../db/migrations/index.ts';
import { lockWaits } from '../../support/service/lock-waits.ts';
import { useDatabase } from '../../support/service/use-database.ts';
import { until } from '../../support/until.ts';
import type { Migration } from 'kysely/migration';
import type { Db } from '../../../db/connection/database.ts';

const database = await useDatabase();

/** Runs one more migration than there are. */
function migrateOneMore(name: string, migration: Migration, onNotice: (message: string) => void): Promise<string[]> {
  const list = { ...migrations, [name]: migration };
  const run = (connection: Db) => runMigrations(connection, onNotice, list);
  return migrateAlone(database.url, () => {}, run);
}

const newAccount = `insert into accounts (id, name, plan) values (gen_random_uuid(), 'Acme', 'pro')`;

/** Begins a transaction that has written the table `accounts`. @returns commits it */
async function holdAccounts(): Promise<() => Promise<void>> {
  const holder = openConnection(database.url);
  await holder.connect();
  await holder.query(`begin; ${newAccount}`);
  return async () => {
    await holder.query('commit');
    await holder.end();
  };
}

const someoneWaits = () => until(async () => (await lockWaits(database.db)).length > 0);
const addAccount = () => sql.raw(newAccount).execute(database.db);

test('a long transaction holds the table of a migration → others get past it, and it runs afterwards', async () => {
  const addRemark: Migration = {
    up: async (db) => void (await sql`alter table accounts add column remark text`.execute(db)),
  };
  const notices: string[] = [];
  const release = await holdAccounts();
  const migrated = migrateOneMore('9998-remark', addRemark, (notice) => notices.push(notice));
  await someoneWaits();
  await addAccount();
  await until(() => notices.includes('9998-remark waits for a table that is in use; others go first'));
  await release();
  expect(await migrated).toEqual(['9998-remark']);
});

test('an index is made beside an open transaction → others write; what a killed run left of it is replaced', async () => {
  await addAccount();
  await addAccount();
  // Both have one name, so this fails, and leaves what a killed process leaves.
  const unfinished = sql`create unique index concurrently accounts_by_name on accounts (name)`.execute(database.db);
  await expect(unfinished).rejects.toThrow('could not create unique index');
  const release = await holdAccounts();
  const made = database.db.connection().execute((db) => makeIndex(db, 'accounts_by_name', 'on accounts (name)'));
  await someoneWaits();
  await addAccount();
  await release();
  await made;
  const { rows } = await sql`select indisvalid, indisunique from pg_index
    where indexrelid = 'accounts_by_name'::regclass`.execute(database.db);
  expect(rows).toEqual([{ indisvalid: true, indisunique: false }]);
});
