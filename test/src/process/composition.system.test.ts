/** A start compares the connections that it may open with those that the server has left. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { mostConnections } from '../../../db/connection/server.ts';
import { migrateToLatest } from '../../../db/migrations/migrate.ts';
import { readConfig } from '../../../src/config/config.ts';
import { composeService } from '../../../src/process/composition.ts';
import { createLog } from '../../../src/ops/log.ts';
import { startPostgres } from '../../rig/postgres.ts';
import { atEnd } from '../../support/at-end.ts';

const postgres = await startPostgres();

/** Not one of ours: those look after the server by a second connection when it is slow, which counts. */
const connect = async () => {
  const connection = new pg.Client(postgres.url);
  await connection.connect();
  atEnd(() => connection.end());
  return connection;
};

async function warningsOfStart(): Promise<string[]> {
  const lines: string[] = [];
  const DATA_DIR = await mkdtemp(join(process.env.TEST_FOLDER!, 'start-'));
  const log = createLog({ logLevel: 'warn' }, { write: (line) => void lines.push(line) });
  await (await composeService(readConfig({ DATABASE_URL: postgres.url, DATA_DIR }), log, 'worker')).close();
  return lines.filter((line) => line.includes('max_connections'));
}

test('as many connections left as a process may open → no warning; one less → a warning', async () => {
  await migrateToLatest(postgres.url);
  const first = await connect();
  const { rows } = await first.query<{ left: number }>(`select current_setting('max_connections')::int
    - current_setting('superuser_reserved_connections')::int
    - (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as left`);
  for (let left = rows[0]!.left; left > mostConnections; left--) await connect();
  expect(await warningsOfStart()).toEqual([]);
  await connect();
  expect(await warningsOfStart()).toHaveLength(1);
});
