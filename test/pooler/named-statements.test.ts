/** Named statements behind PgBouncer: what it does to its own connections does not show. */
import { sql } from 'kysely';
import { openDatabase, runNamed } from '../../db/connection/database.ts';
import { startRelay } from '../support/faults/relay.ts';
import { createTestDatabase } from '../support/service/database.ts';
import { throughPooler } from '../support/service/pooler.ts';
import { reconnect, startPgBouncer } from './pgbouncer.ts';
import type { Database } from '../../db/connection/database.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A database, a cable to it that can be cut, and a pooler at the end of the cable. */
async function behindCable() {
  const { url, drop } = await createTestDatabase(process.env.TEST_DATABASE_URL!);
  const cable = await startRelay(url);
  const pooler = await startPgBouncer(cable.url, { admin_users: new URL(url).username });
  const direct = openDatabase(url, () => {});
  const pooled = openDatabase(throughPooler(url, pooler.host), () => {}, { isPooled: true, maxConnections: 1 });
  ends.push(drop, cable.close, pooler.stop, direct.close, pooled.close);
  return { cable, direct, pooled, reconnect: () => reconnect(pooler, url) };
}

const run = ({ db }: Database, name: string, text: string, isRead = true) =>
  runNamed(db, { name, text, values: [] }, { isRead });

test('the pooler loses the server when a write is done → it is told, and not done again', async () => {
  const { cable, direct, pooled } = await behindCable();
  await sql`create table counted as select 0 as times`.execute(direct.db);
  const count = () => run(pooled, 'count', 'update counted set times = times + 1 returning times', false);
  expect(await count()).toEqual([{ times: 1 }]);
  cable.cutAt('UPDATE 1');
  await expect(count()).rejects.toMatchObject({ code: '08P01' });
  expect((await sql<{ times: number }>`select times from counted`.execute(direct.db)).rows).toEqual([{ times: 2 }]);
});

test('a table whose columns change, and a pooler that reconnects → each value below its own name', async () => {
  const { direct, pooled, reconnect } = await behindCable();
  await sql`create table changing as select 1 as a, 'b' as b`.execute(direct.db);
  const ask = () => run(pooled, 'changing', 'select * from changing');
  for (let round = 0; round < 2; round += 1) expect(await ask()).toEqual([{ a: 1, b: 'b' }]);
  await sql`alter table changing drop column a, add column c text default 'c'`.execute(direct.db);
  await reconnect();
  expect(await ask()).toEqual([{ b: 'b', c: 'c' }]);
});
