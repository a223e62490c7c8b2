import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';
import { cleanUp, newFolder, newFolderWithCluster, processesIn, query } from './postgres-folder.ts';
import { until } from '../../support/until.ts';

afterEach(cleanUp);

test('a new cluster → on loopback only, with a password of its own, in UTF-8 and UTC', async () => {
  const folder = newFolder();
  const postgres = await joinEmbeddedPostgres({ folder });
  const url = new URL(postgres.url);
  expect(url.password).toMatch(/^[0-9a-f]{32,}$/);
  const shown = `SELECT current_setting('server_encoding') AS encoding, current_setting('timezone') AS zone,
    current_setting('fsync') AS fsync, upper('é') AS upper, current_setting('listen_addresses') AS addresses,
    current_setting('unix_socket_directories') AS sockets`;
  expect(await query(postgres.url, shown)).toEqual([
    { encoding: 'UTF8', zone: 'UTC', fsync: 'on', upper: 'É', addresses: '127.0.0.1', sockets: '' },
  ]);
  expect(statSync(path.join(folder, 'data')).mode & 0o777).toBe(0o700);
  expect(statSync(path.join(folder, 'data', 'transcription.password')).mode & 0o777).toBe(0o600);

  url.password = '0'.repeat(48);
  await expect(query(url.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
  url.password = '';
  await expect(query(url.href, 'SELECT 1')).rejects.toThrow();
  await postgres.leave();
});

test('statements fail and a backend crashes → no word of them in the server log', async () => {
  const folder = await newFolderWithCluster();
  const postgres = await joinEmbeddedPostgres({ folder });
  await query(postgres.url, 'CREATE TABLE spoken (word text PRIMARY KEY)');
  await query(postgres.url, `INSERT INTO spoken VALUES ('confidential')`);
  for (const statement of [
    `INSERT INTO spoken VALUES ('confidential')`,
    `SELECT 'confidential'::int`,
    `SELECT confidential FROM`,
    `DO $$ BEGIN RAISE WARNING 'confidential'; RAISE EXCEPTION 'confidential'; END $$`,
    `SELECT 'confidential', pg_terminate_backend(pg_backend_pid())`,
  ]) {
    await expect(query(postgres.url, statement)).rejects.toThrow();
  }
  const crash = expect(query(postgres.url, `SELECT 'confidential', pg_sleep(1000)`)).rejects.toThrow();
  const sleeping = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'`;
  const rows = await until(
    () => query(postgres.url, sleeping),
    ({ length }) => length > 0,
  );
  process.kill((rows as { pid: number }[])[0]!.pid, 'SIGKILL');
  await crash;
  const log = (): string => readFileSync(path.join(folder, 'server.log'), 'utf8');
  await until(() => log().includes('was terminated by signal 9'));
  await postgres.leave();
  expect(log()).not.toContain('confidential');
  expect(statSync(path.join(folder, 'server.log')).mode & 0o777).toBe(0o600);
});

test('the server cannot start → the error carries the end of its log, and nothing is left running', async () => {
  const folder = await newFolderWithCluster();
  const settings = path.join(folder, 'data', 'postgresql.conf');
  const before = readFileSync(settings);
  writeFileSync(settings, 'nonsense = 1\n');
  await expect(joinEmbeddedPostgres({ folder })).rejects.toThrow(/did not start[^]*"nonsense"/);
  expect(processesIn(folder)).toEqual([]);
  writeFileSync(settings, before);
  await (await joinEmbeddedPostgres({ folder })).leave();
});

test('a log of more than 10 MB, PG variables of the caller → it starts afresh, and they are not PostgreSQL’s business', async () => {
  const folder = await newFolderWithCluster();
  const log = path.join(folder, 'server.log');
  writeFileSync(log, 'x'.repeat(11 * 1024 * 1024));
  Object.assign(process.env, { PGDATA: '/nowhere', PGPORT: '1' });
  try {
    const postgres = await joinEmbeddedPostgres({ folder });
    expect(await query(postgres.url, `SELECT current_setting('data_directory') AS folder`)).toEqual([
      { folder: path.join(folder, 'data') },
    ]);
    await postgres.leave();
  } finally {
    delete process.env['PGDATA'];
    delete process.env['PGPORT'];
  }
  expect(readFileSync(log, 'utf8')).toMatch(/^\d{4}-.* starting PostgreSQL/);
});

test('data of another major version → a sentence that says what to type, and nothing is changed', async () => {
  const folder = await newFolderWithCluster();
  const file = path.join(folder, 'data', 'PG_VERSION');
  writeFileSync(file, '17\n');
  const sentence =
    /is of PostgreSQL 17\. This version of the service brings PostgreSQL 18[^]*Nothing was changed[^]*pg_dump/;
  await expect(joinEmbeddedPostgres({ folder })).rejects.toThrow(sentence);
  expect(readFileSync(file, 'utf8')).toBe('17\n');
});
