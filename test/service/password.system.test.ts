/** The database's password is changed by the commands of the operator's guide, while clients upload and read. */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openConnection } from '../../db/connection/database.ts';
import { startPostgres } from '../rig/postgres.ts';
import { atEnd } from '../support/at-end.ts';
import { expectSound } from '../support/service/audit.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';
import { startWhole } from './whole-service.ts';
import type pg from 'pg';

const role = 'rotated';
const guide = join(import.meta.dirname, '../../scripts/deploy/OPERATIONS.md');

test('another password for the database under load → no request fails, and no session', async () => {
  const postgres = await startPostgres();
  const folder = useFolder();
  const passwords = join(folder, 'pgpass');
  await writeFile(passwords, `*:*:*:${role}:old\n`, { mode: 0o600 });
  const superuser = openConnection(postgres.url);
  await superuser.connect();
  atEnd(() => superuser.end());
  await superuser.query(`create role ${role} login password 'old'`);
  await superuser.query(`create database ${role} owner ${role}`);

  const url = Object.assign(new URL(postgres.url), { username: role, password: '', pathname: `/${role}` });
  const asSuperuser = Object.assign(new URL(postgres.url), { pathname: `/${role}` }).href;
  const env = { DATABASE_URL: url.href, PGPASSFILE: passwords };
  const account = { balanceMs: 1_000_000_000, limits: { requests_per_minute: 100_000, queued_sessions: 100_000 } };
  const { service, client, file, db, dataDir } = await startWhole({ url: asSuperuser, env, held: false, account });

  const statuses: number[] = [];
  const accepted: string[] = [];
  let isLoaded = true;
  const work = async () => {
    while (isLoaded) {
      const { status, text } = await client.upload(file);
      statuses.push(status, (await client.get('/v1/sessions')).status);
      if (status === 202) accepted.push((JSON.parse(text) as { sessionId: string }).sessionId);
    }
  };
  const clients = [work()];
  await until(() => accepted.length > 0);
  const since = await ask(superuser, 'select now()::text as at');
  await typePage(folder, superuser, () => {
    // They need more connections than are open.
    clients.push(...Array.from({ length: 12 }, work));
  });
  // What listens comes again at once. A busy pool may need no new connection for long.
  const listeners = `from pg_stat_activity where usename = '${role}' and query ilike 'listen %'`;
  const ended = await ask(superuser, `select count(pg_terminate_backend(pid)) as at ${listeners}`);
  expect(Number(ended)).toBeGreaterThan(0);
  const logins = `select count(*) as at from pg_stat_activity where usename = '${role}' and backend_start > '${since}'`;
  await until(() => ask(superuser, logins));
  isLoaded = false;
  await Promise.all(clients);

  expect(statuses.filter((status) => status !== 200 && status !== 202)).toEqual([]);
  for (const id of accepted) expect(await client.final(id)).toMatchObject({ status: 'completed' });
  await expectSound({ db, dataDir });
  const outdated = openConnection(Object.assign(new URL(url), { password: 'old' }).href);
  await expect(outdated.connect()).rejects.toThrow(/password authentication failed/);
  process.kill(service.pid, 'SIGTERM');
  expect(await service.ended).toBe(0);
  expect(service.lines.filter((line) => line.includes('authentication'))).toEqual([]);
});

const ask = async (connection: pg.Client, query: string) =>
  (await connection.query<{ at: string | number }>(query)).rows[0]!.at;

/** Types the lines of the page that change the password. @param onLock called when logins wait */
async function typePage(folder: string, superuser: pg.Client, onLock: () => void): Promise<void> {
  const [, prepare, script] = /\n(cp -p pgpass [^]*?\n)psql [^\n]*<<'SQL'\n([^]*?)\nSQL\n/.exec(
    await readFile(guide, 'utf8'),
  )!;
  const shell = (command: string) => execFileSync('sh', ['-ec', command], { cwd: folder, encoding: 'utf8' }).trim();
  shell(prepare!);
  let password = '';
  for (const line of script!.split('\n')) {
    const [, set, command] = /^\\set new `(.*)`$|^\\! (.*)$/.exec(line) ?? [];
    if (set !== undefined) password = shell(set);
    else if (command !== undefined) shell(command);
    else await superuser.query(line.replace('role transcription', `role ${role}`).replace(":'new'", `'${password}'`));
    if (line.startsWith('lock table')) onLock();
  }
}
