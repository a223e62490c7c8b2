/** Two statements about one account over one connection: each has its own answer. */
import { connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCompany, openDatabase, runNamed } from '../../db/database.ts';
import { useService } from '../support/service/use-service.ts';
import type { AddressInfo } from 'node:net';
import type { Database } from '../../db/database.ts';

const service = useService();
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

test('second statements that take long → four of them at most, so that others find a connection', async () => {
  const asked: Promise<unknown>[] = [];
  const company: boolean[] = [];
  for (let time = 0; time < 6; time += 1) {
    const leading = lead(one);
    company.push(hasCompany(database.db, one));
    if (company.at(-1)) asked.push(run(one, 'sleep', 'select pg_sleep(1)'));
    await leading;
  }
  expect(company).toEqual([true, true, true, true, false, false]);
  await Promise.all(asked);
  const leading = lead(one);
  expect(hasCompany(database.db, one)).toBe(true);
  await leading;
});

test('a write → never the second one, since that may be run again', async () => {
  const [leading, write] = await Promise.all([
    pidOf(one, true),
    run<{ pid: number }>(one, 'written', 'select pg_backend_pid() as pid', [], { isRead: false }),
  ]);
  expect(write[0]!.pid).not.toBe(leading);
});

test('one of two fails → the other has its answer, and all are answered afterwards', async () => {
  const divide = (leads: boolean) => run(one, `divide-${leads}`, 'select 1 / $1::int', [0], { leads });
  for (let round = 0; round < 10; round += 1) {
    const asked = await Promise.allSettled([divide(true), plus(one, 1), lead(one), divide(false)]);
    expect(asked).toMatchObject([
      ...[{ reason: { code: '22012' } }, { value: [{ n: 2 }] }],
      ...[{ value: [{ n: 1 }] }, { reason: { code: '22012' } }],
    ]);
  }
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
  const end =
    'select pg_terminate_backend(pid) from pg_stat_activity where pid = pg_backend_pid() and $1::text is not null';
  const ends = run(one, 'end', end, ['now'], { isRead: false, leads: true });
  const asked = await Promise.allSettled([ends, plus(one, 1)]);
  expect(asked).toMatchObject([{ reason: { code: '57P01' } }, { value: [{ n: 2 }] }]);
  expect(await plus(one, 1)).toEqual([{ n: 2 }]);
});

test('a server that ends under both, behind a network that does not say so → what reads is asked again at once', async () => {
  const { hostname, port } = new URL(service.databaseUrl);
  const cable = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect(Number(port), hostname);
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
    expect(await Promise.race([read, delay(15_000, 'late')])).toBe('read');
  } finally {
    await database.close();
    cable.close();
  }
});

test('a database that is away → each is told', async () => {
  await database.close();
  database = openDatabase('postgres://nobody@127.0.0.1:1/none', () => {});
  const asked = await Promise.allSettled([lead(one), pidOf(one)]);
  expect(asked).toMatchObject([{ reason: { code: 'ECONNREFUSED' } }, { reason: { code: 'ECONNREFUSED' } }]);
});
