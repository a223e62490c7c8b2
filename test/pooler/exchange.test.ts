/** Statements of one exchange behind PgBouncer: what it does to its own connections does not show. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { sql } from 'kysely';
import { openConnection, openDatabase, runNamed } from '../../db/database.ts';
import { createTestDatabase } from '../support/service/database.ts';
import { throughPooler } from '../support/service/pooler.ts';
import { startPgBouncer } from './pgbouncer.ts';
import type { AddressInfo } from 'node:net';
import type { Database } from '../../db/database.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A database, a cable to it that can be cut, and a pooler at the end of the cable. */
async function behindCable() {
  const { url, drop } = await createTestDatabase(process.env.TEST_DATABASE_URL!);
  ends.push(drop);
  const { hostname, port } = new URL(url);
  const cable = { cutAt: undefined as string | undefined };
  const relay = createServer((near) => {
    const far = connect(Number(port), hostname);
    const end = () => {
      near.destroy();
      far.destroy();
    };
    near.on('data', (chunk) => far.write(chunk));
    far.on('data', (chunk) => {
      if (cable.cutAt === undefined || !chunk.includes(cable.cutAt)) near.write(chunk);
      else {
        cable.cutAt = undefined;
        end();
      }
    });
    for (const socket of [near, far]) socket.on('error', end).on('close', end);
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  ends.push(async () => relay.close());
  const relayed = new URL(url);
  relayed.host = `127.0.0.1:${(relay.address() as AddressInfo).port}`;
  const pooler = await startPgBouncer(relayed.href, { admin_users: relayed.username });
  ends.push(pooler.stop);
  const direct = openDatabase(url, () => {});
  const pooled = openDatabase(throughPooler(url, pooler.host), () => {}, { isPooled: true, maxConnections: 1 });
  ends.push(direct.close, pooled.close);
  const console = new URL(throughPooler(url, pooler.host));
  console.pathname = '/pgbouncer';
  return { cable, direct, pooled, console: console.href };
}

const run = ({ db }: Database, name: string, text: string, more: object = {}) =>
  runNamed(db, { name, text, values: [], isRead: true, accountId: 'an account', leads: false, ...more });

test('the pooler loses the server when both are done → what leads is not done again, what reads is told', async () => {
  const { cable, direct, pooled } = await behindCable();
  await sql`create table counted as select 0 as times`.execute(direct.db);
  const ask = () =>
    Promise.allSettled([
      run(pooled, 'count', 'update counted set times = times + 1 returning times', { isRead: false, leads: true }),
      run(pooled, 'one', 'select 1 as n'),
    ]);
  expect(await ask()).toMatchObject([{ value: [{ times: 1 }] }, { value: [{ n: 1 }] }]);
  cable.cutAt = 'UPDATE 1';
  expect(await ask()).toMatchObject([{ reason: { code: '08P01' } }, { reason: { code: '08P01' } }]);
  expect((await sql<{ times: number }>`select times from counted`.execute(direct.db)).rows).toEqual([{ times: 2 }]);
});

test('a table whose columns change, and a pooler that reconnects → each value below its own name', async () => {
  const { direct, pooled, console } = await behindCable();
  await sql`create table changing as select 1 as a, 'b' as b`.execute(direct.db);
  const ask = () => run(pooled, 'changing', 'select * from changing', { accountId: undefined });
  for (let round = 0; round < 2; round += 1) expect(await ask()).toEqual([{ a: 1, b: 'b' }]);
  await sql`alter table changing drop column a, add column c text default 'c'`.execute(direct.db);
  const connection = openConnection(console, true);
  await connection.connect();
  await connection.query('reconnect');
  await connection.end();
  expect(await ask()).toEqual([{ b: 'b', c: 'c' }]);
});
