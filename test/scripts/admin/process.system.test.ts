/** `npm run admin` as the process that it is for people. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { listSupportLog } from '../../../db/accounts/support-log.ts';
import { environmentFor } from '../../../scripts/admin/database.ts';
import { projectFolder } from '../../architecture/source-files.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { lockWaits } from '../../support/service/lock-waits.ts';
import { useService } from '../../support/service/use-service.ts';
import { until } from '../../support/until.ts';
import { useFolder } from '../../support/use-folder.ts';
import { startScript } from '../run-script.ts';
import { aTime, anId, environmentOf, mistaken, refused, runAdminProcess } from './run-admin.ts';

const service = await useService();
const folder = useFolder();
const run = (...args: string[]) => runAdminProcess(args, environmentOf(service));

test('answers on standard output, notes on standard error, secrets from standard input; exit 0, 1 and 2', async () => {
  const { id, key, keyId } = await makeAccount(service.db, { plan: 'free' });
  expect(await run('keys', 'issue', id, '--scope', 'read')).toEqual({
    ...{
      code: 0,
      stdout: expect.stringMatching(
        /^[^]*tsk_\w{38}\n[^]*\n\nThe secret is shown this once and not stored((?!tsk_)[^])*$/,
      ),
    },
    stderr: expect.stringMatching(/^.*plan of this account may not use the API.*\n$/),
  });
  const { code, stdout } = await runAdminProcess(['keys', 'revoke', '-', '--json'], environmentOf(service), `${key}\n`);
  expect({ code, id: JSON.parse(stdout).id }).toEqual({ code: 0, id: keyId });
  const unknown = '0198c0de-0000-7000-8000-000000000000';
  expect(await run('accounts', 'show', unknown)).toEqual(refused(/^There is no account/));
  expect(await run('accounts', 'show', 'acme')).toEqual(mistaken(/'acme' is invalid/));
});

const finishing = 'Finishing what has begun; press Ctrl-C again to stop at once.\n';

/** Runs `work` while a credit of the account waits for the row. */
async function whileItWaits(accountId: string, work: () => Promise<void>): Promise<void> {
  await service.db.transaction().execute(async (trx) => {
    await sql`select from accounts where id = ${accountId} for update`.execute(trx);
    await until(async () => (await lockWaits(service.db)).length > 0);
    await work();
  });
}

test('SIGTERM → what has begun is finished and answered', async () => {
  const { id } = await makeAccount(service.db, { balanceMs: 0 });
  const args = ['scripts/admin/main.ts', 'balance', 'credit', id, '1h', '--json'];
  const running = startScript(args, environmentOf(service));
  await whileItWaits(id, async () => {
    running.kill('SIGTERM');
    await running.says(finishing);
  });
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stderr, answer: JSON.parse(stdout) }).toEqual({
    ...{ code: 0, stderr: finishing },
    answer: expect.objectContaining({ id, balanceMs: 3_600_000 }),
  });
});

test('Ctrl-C a second time → it stops at once, and nothing is changed', async () => {
  const { id } = await makeAccount(service.db, { balanceMs: 0 });
  const running = startScript(['scripts/admin/main.ts', 'balance', 'credit', id, '1h'], environmentOf(service));
  await whileItWaits(id, async () => {
    running.kill('SIGINT');
    await running.says(finishing);
    // Within half a second it would count as the same press, which npm has handed on.
    const pressing = setInterval(() => running.kill('SIGINT'), 100);
    expect(await running.ended).toEqual({ code: 130, stdout: '', stderr: finishing });
    clearInterval(pressing);
  });
  await until(async () => (await lockWaits(service.db)).length === 0);
  const rows = await sql`select from ledger where account_id = ${id}`.execute(service.db);
  expect(rows.rows).toEqual([]);
});

test('where no service runs and no database is → makes one, says so, answers, and leaves nothing running', async () => {
  const dataDir = join(folder, 'data');
  const env = { DATA_DIR: dataDir };
  const made = await runAdminProcess(['accounts', 'create', '--name', 'Acme', '--plan', 'pro', '--json'], env);
  expect(made).toMatchObject({ code: 0, stderr: expect.stringMatching(/^making a database in /) });
  const created = JSON.parse(made.stdout) as { id: string };
  expect(created).toMatchObject({ id: anId, createdAt: aTime });

  // With a queue that has never run before.
  const erased = await runAdminProcess(['accounts', 'delete', created.id], env);
  expect(erased).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(/is erased/) });
  expect(await readdir(join(dataDir, 'postgres', 'data'))).not.toContain('postmaster.pid');
});

// PostgreSQL's own programs on the service's database, and what they are told. Node.js stands for them: few machines have them all.
const runProgram = (...words: string[]) => run('database', 'run', '--', ...words);
const shown = `const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE } = process.env;
  console.log(JSON.stringify([PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE]))`;

test('a program → is told where the database is, prints nothing but its own output, and is in the log; its exit code', async () => {
  const { hostname, port, username, password, pathname } = new URL(service.databaseUrl);
  const { stdout, ...end } = await runProgram(process.execPath, '--eval', shown);
  expect(end).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual([hostname, port, username, password, pathname.slice(1)]);
  expect(await listSupportLog(service.db, { limit: 1 })).toMatchObject([{ act: 'database run', details: '{}' }]);
  expect((await runProgram(process.execPath, '--eval', 'process.exit(7)')).code).toBe(7);
  expect(await runProgram('pg_nothing')).toEqual(
    refused(/^pg_nothing can not be started: spawn pg_nothing ENOENT\.\n$/),
  );
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
  const env = { DATA_DIR: useFolder() };
  const program = ['--', process.execPath, '--eval', shown];
  const without = () => runAdminProcess(['database', 'run', ...program], env);
  expect(await without()).toEqual(
    refused(`^There are no tables of the service in ${env.DATA_DIR}\\. .* database run --new -- pg_res`),
  );
  expect(await readdir(env.DATA_DIR)).toEqual([]);
  const { code, stdout } = await runAdminProcess(['database', 'run', '--new', ...program], env);
  expect({ code, named: (JSON.parse(stdout) as string[]).at(-1) }).toEqual({ code: 0, named: 'transcription' });
  expect(await without()).toEqual(refused('There are no tables of the service in'));
});

/** Without what is undefined: a process is not given it. */
const told = (url: string, env: NodeJS.ProcessEnv = {}) =>
  JSON.parse(JSON.stringify(environmentFor(url, env))) as object;
const database = { PGHOST: 'db', PGDATABASE: 'name' };

test.each([
  ['everything', 'postgres://me:secret@db:5433/name', { PGPORT: '5433', PGUSER: 'me', PGPASSWORD: 'secret' }],
  ['encoded', 'postgres://m%40e:p%2Fs%20%s@db/na%20me', { PGUSER: 'm@e', PGPASSWORD: 'p/s %s', PGDATABASE: 'na me' }],
  ['IPv6', 'postgres://[::1]/name', { PGHOST: '::1' }],
  ['a socket in the query', 'postgres:///name?host=/run/postgresql', { PGHOST: '/run/postgresql' }],
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
])('a URL with %s', (_, url, expected) => {
  expect(told(url)).toEqual({ ...database, ...expected });
});

test('what the URL says → goes before the environment, of which nothing leads elsewhere', () => {
  const env = { PGHOST: 'a', PGDATABASE: 'b', PGUSER: 'c', PGPASSWORD: 'd', PGSERVICE: 'e', PGHOSTADDR: '10.0.0.1' };
  expect(told('postgres://me:secret@db/name', env)).toEqual({ ...database, PGUSER: 'me', PGPASSWORD: 'secret' });
});
