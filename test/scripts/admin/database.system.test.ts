/** PostgreSQL's own programs on the service's database, and what they are told. Node.js stands for them: few machines have them all. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { listSupportLog } from '../../../db/accounts/support-log.ts';
import { environmentFor } from '../../../scripts/admin/database.ts';
import { projectFolder } from '../../architecture/source-files.ts';
import { useDatabase } from '../../support/service/use-database.ts';
import { useService } from '../../support/service/use-service.ts';
import { until } from '../../support/until.ts';
import { environmentOf, refused, runAdminProcess as runAdmin } from './run-admin.ts';

const service = await useService();
const run = (...words: string[]) => runAdmin(['database', 'run', '--', ...words], environmentOf(service));
const shown = `const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE } = process.env;
  console.log(JSON.stringify([PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE]))`;

test('a program → is told where the database is, prints nothing but its own output, and is in the log; its exit code', async () => {
  const { hostname, port, username, password, pathname } = new URL(service.databaseUrl);
  const { stdout, ...end } = await run(process.execPath, '--eval', shown);
  expect(end).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual([hostname, port, username, password, pathname.slice(1)]);
  expect(await listSupportLog(service.db, { limit: 1 })).toMatchObject([{ act: 'database run', details: '{}' }]);
  expect((await run(process.execPath, '--eval', 'process.exit(7)')).code).toBe(7);
  expect(await run('pg_nothing')).toEqual(refused(/^pg_nothing can not be started: spawn pg_nothing ENOENT\.\n$/));
});

/** Tells of each SIGINT and goes on, as psql does; ends in order at SIGTERM. */
const likePsql = `process.on('SIGINT', () => console.log('cancelled'));
  process.on('SIGTERM', () => { console.log('ended'); process.exit(3); });
  setInterval(() => {}, 1000);
  console.log('ready')`;

test('Ctrl-C again and again → the program alone hears it; SIGTERM → it ends, and the command with it', async () => {
  const args = ['scripts/admin/main.ts', 'database', 'run', '--', process.execPath, '--eval', likePsql];
  const env = { PATH: process.env.PATH, ...environmentOf(service) };
  // With a process group of its own, all of which a terminal would give the signal.
  const command = spawn(process.execPath, args, { cwd: projectFolder, env, detached: true });
  const ended = once(command, 'close');
  let said = '';
  for (const output of [command.stdout, command.stderr]) output.on('data', (data) => (said += String(data)));
  const hears = (all: string) =>
    until(
      () => said,
      ({ length }) => length >= all.length,
    );
  try {
    expect(await hears('ready\n')).toBe('ready\n');
    for (const all of ['ready\ncancelled\n', 'ready\ncancelled\ncancelled\n']) {
      process.kill(-command.pid!, 'SIGINT');
      expect(await hears(all)).toBe(all);
      // Longer than what counts as one press.
      await pause(600);
    }
    command.kill('SIGTERM');
    expect(await ended).toEqual([3, null]);
    expect(said).toBe('ready\ncancelled\ncancelled\nended\n');
  } finally {
    // A program that was left alone would keep the output open, and the test run with it.
    if (command.exitCode === null || !said.endsWith('ended\n')) process.kill(-command.pid!, 'SIGKILL');
  }
});

test('a DATA_DIR without a database → refused, and none is made; --new → an empty one, which is refused without', async () => {
  const env = { DATA_DIR: await mkdtemp(join(process.env.TEST_FOLDER!, 'run-')) };
  const program = ['--', process.execPath, '--eval', shown];
  const without = () => runAdmin(['database', 'run', ...program], env);
  expect(await without()).toEqual(
    refused(`^There are no tables of the service in ${env.DATA_DIR}\\. .* database run --new -- pg_res`),
  );
  expect(await readdir(env.DATA_DIR)).toEqual([]);
  const { code, stdout } = await runAdmin(['database', 'run', '--new', ...program], env);
  expect({ code, named: (JSON.parse(stdout) as string[]).at(-1) }).toEqual({ code: 0, named: 'transcription' });
  expect(await without()).toEqual(refused('There are no tables of the service in'));
});

test('a database that is too new → the program runs and is in the log', async () => {
  const { url, db } = await useDatabase();
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', now())`.execute(db);
  const words = ['database', 'run', '--', process.execPath, '-e', ''];
  const end = await runAdmin(words, environmentOf({ ...service, databaseUrl: url }));
  expect(end).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(await listSupportLog(db, { limit: 1 })).toMatchObject([{ act: 'database run' }]);
});

/** Without what is undefined: a process is not given it. */
const told = (url: string, env: NodeJS.ProcessEnv = {}) =>
  JSON.parse(JSON.stringify(environmentFor(url, env))) as object;
const database = { PGHOST: 'db', PGDATABASE: 'name' };

test.each([
  ['everything', 'postgres://me:secret@db:5433/name', { PGPORT: '5433', PGUSER: 'me', PGPASSWORD: 'secret' }],
  ['no user, no password, no port', 'postgres://db/name', {}],
  ['encoded', 'postgres://m%40e:p%2Fs%20%s@db/na%20me', { PGUSER: 'm@e', PGPASSWORD: 'p/s %s', PGDATABASE: 'na me' }],
  ['IPv6', 'postgres://[::1]/name', { PGHOST: '::1' }],
  ['a socket in the query', 'postgres:///name?host=/run/postgresql', { PGHOST: '/run/postgresql' }],
  ['a socket as the host', 'postgres://me@%2Frun%2Fpg/name', { PGHOST: '/run/pg', PGUSER: 'me' }],
  ['no host', 'postgres:///name', { PGHOST: 'localhost' }],
  [
    'the rest in the query',
    'postgres://db/name?port=5433&user=me&password=secret&options=-c%20search_path%3Dours',
    { PGPORT: '5433', PGUSER: 'me', PGPASSWORD: 'secret', PGOPTIONS: '-c search_path=ours' },
  ],
  [
    'certificates',
    'postgres://db/name?sslmode=verify-full&sslrootcert=ca.pem&sslcert=me.pem&sslkey=me.key',
    { PGSSLMODE: 'verify-full', PGSSLROOTCERT: 'ca.pem', PGSSLCERT: 'me.pem', PGSSLKEY: 'me.key' },
  ],
  ['a mode of node-postgres alone', 'postgres://db/name?sslmode=no-verify', { PGSSLMODE: 'require' }],
  ['no ssl', 'postgres://db/name?ssl=0', { PGSSLMODE: 'disable' }],
])('a URL with %s', (_, url, expected) => {
  expect(told(url)).toEqual({ ...database, ...expected });
});

test('what the URL leaves out → stays as it is in the environment', () => {
  const env = { PATH: '/bin', PGUSER: 'me', PGPASSWORD: 'secret', PGPORT: '5433', PGSSLMODE: 'no-verify' };
  expect(told('postgres://db/name', env)).toEqual({ ...env, ...database, PGSSLMODE: 'require' });
  expect(told('postgres:///name', { ...env, PGHOST: 'other' })).toMatchObject({
    PGHOST: 'other',
    PGPASSWORD: 'secret',
  });
});

test('what the URL says → goes before the environment, of which nothing leads elsewhere', () => {
  const env = { PGHOST: 'a', PGDATABASE: 'b', PGUSER: 'c', PGPASSWORD: 'd', PGSERVICE: 'e', PGHOSTADDR: '10.0.0.1' };
  expect(told('postgres://me:secret@db/name', env)).toEqual({ ...database, PGUSER: 'me', PGPASSWORD: 'secret' });
});
