import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { openDatabase } from '../../../db/connection/database.ts';
import { migrateToLatest } from '../../../db/migrations/migrate.ts';
import { migrations } from '../../../db/migrations/index.ts';
import { readConfig } from '../../../src/config/config.ts';
import { composeService } from '../../../src/process/composition.ts';
import { createLog } from '../../../src/ops/log.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { newJobId } from '../../../src/queue/queue.ts';
import type { Database } from '../../../db/connection/database.ts';

let server: Database;
let url: string;
beforeAll(() => void (server = openDatabase(process.env.TEST_DATABASE_URL!, () => {})));
beforeEach(async () => {
  const name = `empty_${randomUUID().replaceAll('-', '')}`;
  await sql`create database ${sql.id(name)} template template0`.execute(server.db);
  const empty = new URL(process.env.TEST_DATABASE_URL!);
  empty.pathname = `/${name}`;
  url = empty.href;
});
afterEach(() => sql`drop database ${sql.id(new URL(url).pathname.slice(1))} with (force)`.execute(server.db));
afterAll(() => server.close());

test('three migrate an empty database at once → each migration runs once', async () => {
  await Promise.all([1, 2, 3].map(() => migrateToLatest(url)));
  const { db, close } = openDatabase(url, () => {});
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(migrations));
  expect(await db.selectFrom('plans').selectAll().execute()).toHaveLength(4);
  await close();
});

test('a second run → changes nothing', async () => {
  const { db, close } = openDatabase(url, () => {});
  await migrateToLatest(url);
  await sql`update plans set requests_per_minute = 77 where plan = 'pro'`.execute(db);
  const before = await sql`select * from kysely_migration`.execute(db);
  await migrateToLatest(url);
  expect((await sql`select * from kysely_migration`.execute(db)).rows).toEqual(before.rows);
  const plan = db.selectFrom('plans').select('requests_per_minute').where('plan', '=', 'pro');
  expect(await plan.executeTakeFirst()).toEqual({ requests_per_minute: 77 });
  await close();
});

test('three processes start on an empty database at once → tables and queue are there for all of them', async () => {
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'migrate-'));
  const config = readConfig({ DATABASE_URL: url, DATA_DIR: dataDir });
  const log = createLog({ logLevel: 'silent' });
  const foundations = await Promise.all(
    (['api', 'worker', 'worker'] as const).map((role) => composeService(config, log, role)),
  );
  for (const { db, queue } of foundations) {
    const ids = { id: newJobId(), accountId: randomUUID(), sessionId: randomUUID(), startTag: 0 };
    await inTransaction(db, (trx) => queue.enqueue(trx, { ...ids, durationMs: 1, runningJobs: 1 }));
  }
  const { rows } = await sql`select id from pgboss.job where name = 'transcription'`.execute(foundations[0]!.db);
  expect(rows).toHaveLength(3);
  await Promise.all(foundations.map((foundation) => foundation.close()));
});
