/** Named statements as connections come to know them: each test runs over one connection. */
import { sql } from 'kysely';
import { openDatabase, runNamed } from '../../db/connection/database.ts';
import { useService } from '../support/service/use-service.ts';
import type { Database } from '../../db/connection/database.ts';

const service = await useService();
let database: Database;
beforeEach(() => {
  database = openDatabase(service.databaseUrl, () => {}, { maxConnections: 1 });
});
afterEach(() => database.close());

const run = (name: string, text: string, values: unknown[] = [], isRead = true) =>
  runNamed(database.db, { name, text, values }, { isRead });
const pid = async () => (await run('pid', 'select pg_backend_pid() as pid'))[0];

test('values of every kind → come back as they went, each time', async () => {
  const text = `select $1::int as number, $2::text as text, $3::boolean as truth, $4::text[] as texts, $5::bigint as big,
    $6::timestamptz as time, $7::json as json, $8::text as nothing`;
  const time = '2026-11-20 09:30:00.123456+00';
  const values = [7, 'grün 🙂', true, ['a,b', '"c"', ''], Number.MAX_SAFE_INTEGER, time, '{"a": 1}', null];
  const [number, written, truth, texts, big, , json] = values;
  const row = { number, text: written, truth, texts, big, time, json, nothing: null };
  for (let round = 0; round < 3; round += 1) expect(await run('values', text, values)).toEqual([row]);
});

test.each([
  ['a value that PostgreSQL refuses', ['x'], { code: '22P02' }],
  ['a value that cannot be written', [circular()], { message: expect.stringContaining('circular') }],
  ['a value that cannot be read', [2n ** 60n], { message: `${2n ** 60n} is beyond the safe integers` }],
])('%s → is told, and the next one is answered', async (_, values, error) => {
  const text = 'select $1::bigint as n';
  for (let round = 0; round < 3; round += 1) {
    await expect(run('big', text, values)).rejects.toMatchObject(error);
    expect(await run('big', text, [1])).toEqual([{ n: 1 }]);
  }
});

test('a table whose column gets another type → the statement fails once, and then fits', async () => {
  await sql`create table changing (n int)`.execute(database.db);
  await sql`insert into changing values (1)`.execute(database.db);
  const ask = () => run('changing', 'select n from changing');
  expect(await ask()).toEqual([{ n: 1 }]);
  await sql`alter table changing alter column n type text`.execute(database.db);
  await expect(ask()).rejects.toThrow('cached plan must not change result type');
  expect(await ask()).toEqual([{ n: '1' }]);
});

test('statements that succeed → keep their connection; one that fails → another connection', async () => {
  const first = await pid();
  await run('one', 'select 1');
  expect(await pid()).toEqual(first);
  await expect(run('zero', 'select 1 / $1::int', [0])).rejects.toMatchObject({ code: '22012' });
  expect(await pid()).not.toEqual(first);
});

const end =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid = pg_backend_pid() and $1::text is not null';

test('a server process that ends under a statement → what writes fails and is not asked again, the next is answered', async () => {
  await expect(run('end', end, ['now'], false)).rejects.toMatchObject({ code: '57P01' });
  expect(await run('one', 'select 1 as n')).toEqual([{ n: 1 }]);
});

test('a server process that ends under what reads → asked again, once', async () => {
  await sql`create sequence ends`.execute(database.db);
  const once = `select case when nextval('ends') = 1 then pg_terminate_backend(pg_backend_pid()) else true end as ended`;
  expect(await run('end-once', once)).toEqual([{ ended: true }]);
});

function circular(): object {
  const value: { itself?: object } = {};
  value.itself = value;
  return value;
}
