/** Two statements about one account in one exchange: each has its own answer. */
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { hasCompany, openDatabase, runNamed } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import { useService } from '../support/service/use-service.ts';
import type { AddressInfo, Socket } from 'node:net';
import type { Database } from '../../db/database.ts';

const service = await useService();
let database: Database;
beforeEach(() => {
  database = openDatabase(service.databaseUrl, () => {}, { maxConnections: 8 });
});
afterEach(() => database.close());

const [one, other] = ['an account', 'another account'];
const run = <Row>(accountId: string, name: string, text: string, values: unknown[] = [], more: object = {}) =>
  runNamed<Row>(database.db, { accountId, name, text, values, isRead: true, leads: false, ...more });
const lead = (accountId: string) => run<{ n: number }>(accountId, 'lead', 'select 1 as n', [], { leads: true });
const plus = (accountId: string, n: number) => run<{ n: number }>(accountId, 'plus', 'select $1::int + 1 as n', [n]);
const pidOf = async (accountId: string, leads = false) => {
  const name = leads ? 'pid-of-leading' : 'pid';
  return (await run<{ pid: number }>(accountId, name, 'select pg_backend_pid() as pid', [], { leads }))[0]!.pid;
};

test('what leads and what follows it → one connection; a third, and those of another account → others', async () => {
  const [leading, foreign, second, third, nextLeading, next] = await Promise.all([
    ...[pidOf(one, true), pidOf(other), pidOf(one), pidOf(one)],
    ...[pidOf(one, true), pidOf(one)],
  ]);
  expect(second).toBe(leading);
  expect(next).toBe(nextLeading);
  expect(new Set([leading, foreign, third, nextLeading]).size).toBe(4);
});

test('company → only for one, for the same account, and in the same turn', async () => {
  expect(hasCompany(database.db, one)).toBe(false);
  const asked: Promise<unknown>[] = [lead(one)];
  expect([one, other].map((account) => hasCompany(database.db, account))).toEqual([true, false]);
  asked.push(pidOf(one));
  expect(hasCompany(database.db, one)).toBe(false);
  asked.push(lead(one));
  await new Promise(setImmediate);
  expect(hasCompany(database.db, one)).toBe(false);
  await Promise.all(asked);
});

test('a write → never the second one, since that may be run again', async () => {
  const [leading, write] = await Promise.all([
    pidOf(one, true),
    run<{ pid: number }>(one, 'written', 'select pg_backend_pid() as pid', [], { isRead: false }),
  ]);
  expect(write[0]!.pid).not.toBe(leading);
});

const table = 'create table if not exists counted (account text primary key, times int not null)';
const countedOf = async (accountId: string) => {
  const { rows } = await sql<{ times: number }>`select times from counted where account = ${accountId}`.execute(
    database.db,
  );
  return rows[0]!.times;
};
const count = (accountId: string) => {
  const text = 'update counted set times = times + 1 where account = $1 returning times as n';
  return run<{ n: number }>(accountId, 'count', text, [accountId], { isRead: false, leads: true });
};

test('what follows fails → what leads is done once, and all are answered afterwards', async () => {
  await sql.raw(table).execute(database.db);
  await sql`insert into counted values (${one}, 0)`.execute(database.db);
  for (let round = 1; round <= 10; round += 1) {
    const asked = await Promise.allSettled([
      ...[count(one), run(one, 'divide', 'select 1 / $1::int', [0])],
      ...[lead(one), plus(one, 1)],
    ]);
    expect(asked).toMatchObject([
      ...[{ value: [{ n: round }] }, { reason: { code: '22012' } }],
      ...[{ value: [{ n: 1 }] }, { value: [{ n: 2 }] }],
    ]);
    expect(await countedOf(one)).toBe(round);
  }
});

test('what leads fails → both fail, and all are answered afterwards', async () => {
  for (let round = 0; round < 10; round += 1) {
    const divide = run(one, 'divide', 'select 1 / $1::int', [0], { leads: true });
    const asked = await Promise.allSettled([divide, plus(one, 1), lead(one)]);
    const failed = { reason: { code: '22012' } };
    expect(asked).toMatchObject([failed, failed, { value: [{ n: 1 }] }]);
  }
});

test('both wait for somebody who waits for them → both are done once', async () => {
  await sql.raw(table).execute(database.db);
  await sql`insert into counted values ('in a deadlock', 0)`.execute(database.db);
  await sql`create table read (n int)`.execute(database.db);
  const text = 'select pg_sleep(0.5) from (select count(*) from read) as nothing';
  const asked = Promise.all([count('in a deadlock'), run('in a deadlock', 'slow', text)]);
  await delay(200);
  await inTransaction(database.db, async (trx) => {
    // The other one finds the deadlock.
    await sql`set local deadlock_timeout = '20s'`.execute(trx);
    await sql`update counted set times = times where account = 'in a deadlock'`.execute(trx);
    await sql`alter table read add column more int`.execute(trx);
  });
  await asked;
  expect(await countedOf('in a deadlock')).toBe(1);
});

test('what follows takes long → what leads locks nothing meanwhile', async () => {
  await sql.raw(table).execute(database.db);
  await sql`insert into counted values (${other}, 0)`.execute(database.db);
  const slow = Promise.all([count(other), run(other, 'sleep', 'select pg_sleep(2)')]).then(() => 'slow');
  await delay(500);
  expect(await Promise.race([slow, count(other)])).toEqual([{ n: 1 }]);
  await slow;
  expect(await countedOf(other)).toBe(2);
});

test('one that leads and waits → those of other accounts do not', async () => {
  const slow = run(one, 'sleep', 'select pg_sleep(2)', [], { leads: true }).then(() => 'slow');
  const quick = Promise.all([lead(other), pidOf(other)]).then(() => 'quick');
  expect(await Promise.race([slow, quick])).toBe('quick');
  await slow;
});

const end =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid = pg_backend_pid() and $1::text is not null';

test('a server process that ends under both → what reads is asked again, what leads and writes fails', async () => {
  const ends = run(one, 'end', end, ['now'], { isRead: false, leads: true });
  const asked = await Promise.allSettled([ends, plus(one, 1)]);
  expect(asked).toMatchObject([{ reason: { code: '57P01' } }, { value: [{ n: 2 }] }]);
  expect(await plus(one, 1)).toEqual([{ n: 2 }]);
});

test('a server that ends under both, behind a network that does not say so → what reads is asked again at once', async () => {
  const { hostname, port } = new URL(service.databaseUrl);
  const sockets: Socket[] = [];
  const cable = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect(Number(port), hostname);
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on('error', () => {});
    near.pipe(far).pipe(near, { end: false });
  });
  await new Promise<void>((resolve) => cable.listen(0, '127.0.0.1', resolve));
  const url = new URL(service.databaseUrl);
  url.host = `127.0.0.1:${(cable.address() as AddressInfo).port}`;
  await database.close();
  database = openDatabase(url.href, () => {});
  try {
    const ends = run(one, 'end', end, ['now'], { isRead: false, leads: true }).catch(({ code }) => code);
    const read = plus(one, 1).then(() => 'read');
    expect(await ends).toBe('57P01');
    // Else it would be found after 35 s of silence.
    expect(await Promise.race([read, delay(15_000, 'late', { ref: false })])).toBe('read');
  } finally {
    await database.close();
    for (const socket of sockets) socket.destroy();
    cable.close();
  }
});

test('a database that is away → each is told', async () => {
  await database.close();
  database = openDatabase('postgres://nobody@127.0.0.1:1/none', () => {});
  const asked = await Promise.allSettled([lead(one), pidOf(one)]);
  expect(asked).toMatchObject([{ reason: { code: 'ECONNREFUSED' } }, { reason: { code: 'ECONNREFUSED' } }]);
});
