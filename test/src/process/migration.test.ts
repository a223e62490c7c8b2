/** A database of another version, and the next version's migration beside this one. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { openConnection } from '../../../db/connection/database.ts';
import { migrateAlone, runMigrations } from '../../../db/migrations/migrate.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { listSupportLog } from '../../../db/accounts/support-log.ts';
import { migrations } from '../../../db/migrations/index.ts';
import { migrate, showStatus } from '../../../scripts/admin/database.ts';
import { readConfig } from '../../../src/config/config.ts';
import { createContext } from '../../../src/process/context.ts';
import { createLog } from '../../../src/ops/log.ts';
import { Queue } from '../../../src/queue/queue.ts';
import { newJobId } from '../../../src/queue/jobs.ts';
import { useEmptyDatabase } from '../../rig/postgres.ts';
import { useFolder } from '../../support/use-folder.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { asSupport } from '../../support/service/admin.ts';
import { lockWaits } from '../../support/service/lock-waits.ts';
import { useService } from '../../support/service/use-service.ts';
import { until } from '../../support/until.ts';
import { tone } from '../../support/uploads/uploads.ts';
import type { Migration } from 'kysely/migration';

const newest = Object.keys(migrations).at(-1)!;
let environment: { DATABASE_URL: string; DATA_DIR: string };

async function startEmpty(): Promise<void> {
  environment = { DATABASE_URL: (await useEmptyDatabase()).href, DATA_DIR: useFolder() };
}

/** A database on which the version before this one ran. */
async function useOldDatabase(): Promise<void> {
  await startEmpty();
  const { [newest]: _, ...before } = migrations;
  await migrateAlone(
    environment.DATABASE_URL,
    () => {},
    (connection) => runMigrations(connection, () => {}, before),
  );
  const queue = new Queue(environment.DATABASE_URL, createLog({ logLevel: 'silent' }), 'api');
  await queue.start();
  await queue.stop();
}

const start = (lines: string[] = [], role: 'api' | 'worker' = 'api') =>
  createContext(
    readConfig(environment),
    createLog({ logLevel: 'info' }, { write: (line) => void lines.push(line) }),
    role,
  );
const status = () => asSupport(environment, showStatus, 'compares');

test('three processes start on an empty database at once → tables and queue are made once, and there for all', async () => {
  await startEmpty();
  const services = await Promise.all((['api', 'worker', 'worker'] as const).map((role) => start([], role)));
  for (const { db, queue } of services) {
    const session = { id: randomUUID(), queue_job_id: newJobId(), duration_ms: 1, max_audio_ms: 1 };
    const queued = { ...session, heard_channels: 1, attempts_left: 3, start_tag: 0 };
    await inTransaction(db, (trx) => queue.enqueue(trx, { id: randomUUID(), running_jobs: 1 }, queued));
  }
  const { db } = services[0]!;
  const { rows: jobs } = await sql`select id from pgboss.job where name = 'transcription'`.execute(db);
  expect(jobs).toHaveLength(3);
  const { rows: ran } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  expect(ran.map(({ name }) => name)).toEqual(Object.keys(migrations));
  expect(await db.selectFrom('plans').selectAll().execute()).toHaveLength(4);
  await Promise.all(services.map((one) => one.close()));
});

test('a database that is too old → no start and no command, but one that migrates it', async () => {
  await useOldDatabase();
  const sentence = `is of an older version of the service and lacks ${newest}. Type: npm run admin -- database migrate`;
  await expect(start()).rejects.toThrow(sentence);
  await expect(asSupport(environment, async () => {})).rejects.toThrow(sentence);
  expect(await status()).toMatchObject({ exitCode: 1, json: { state: 'too_old', missing: [newest] } });

  const { json, text } = await asSupport(environment, migrate, 'migrates');
  expect(json).toMatchObject({ id: 'database', state: 'current', missing: [], ran: [newest] });
  expect(text).toContain('The database is of this version.');
  expect(await status()).toMatchObject({ exitCode: 0, json: { state: 'current', unknown: [] } });
  await (await start()).close();
  const [act] = await asSupport(environment, ({ db }) => listSupportLog(db, { limit: 1 }));
  expect(act).toMatchObject({ act: 'database migrate', details: JSON.stringify({ ran: [newest] }) });
});

test('a database that is being migrated → the start waits for that', async () => {
  await useOldDatabase();
  const lines: string[] = [];
  let starting: ReturnType<typeof start> | undefined;
  await migrateAlone(
    environment.DATABASE_URL,
    () => {},
    async (connection) => {
      starting = start(lines);
      await until(() => lines.some((line) => line.includes('another process migrates the database')));
      await runMigrations(connection, () => {});
    },
  );
  await (await starting!).close();
});

const service = await useService();

test('the next version migrates a table that a long transaction holds → it lets every request go first, and runs afterwards; this one starts no more', async () => {
  const { key } = await makeAccount(service.db);
  const upload = async () =>
    service
      .post('/v1/transcriptions', key)
      .attach('file', await tone(500), 'a.wav')
      .expect(202);
  const holder = openConnection(service.databaseUrl);
  await holder.connect();
  await upload();
  await holder.query('begin; update sessions set title = title');
  const next: Migration = {
    up: async (db) => void (await sql`alter table sessions add column mood text`.execute(db)),
  };
  const notices: string[] = [];
  const migrated = migrateAlone(
    service.databaseUrl,
    () => {},
    (connection) => runMigrations(connection, (notice) => notices.push(notice), { ...migrations, '9999-next': next }),
  );
  await until(async () => (await lockWaits(service.db)).length > 0);
  await upload();
  await service.get('/v1/sessions', key).expect(200);
  await until(() => notices.includes('9999-next waits for a table that is in use; others go first'));
  await holder.query('commit');
  await holder.end();
  expect(await migrated).toEqual(['9999-next']);
  await upload();
  const list = await service.get('/v1/sessions', key).expect(200);
  expect((list.body as { items: unknown[] }).items).toHaveLength(3);

  environment = { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir };
  await expect(start()).rejects.toThrow('is of a newer version of the service: this one does not know 9999-next');
  expect(await status()).toMatchObject({ exitCode: 1, json: { state: 'too_new', unknown: ['9999-next'] } });
});
