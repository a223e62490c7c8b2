/** `admin verify` at a standby, which spares the primary: it is a little behind, and may break a long look off. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { openDatabase } from '../../../db/connection/database.ts';
import { isBrokenOff, isStandby } from '../../../db/connection/server.ts';
import { inSnapshot } from '../../../db/connection/transaction.ts';
import { eraseSession } from '../../../src/sessions/support.ts';
import { atEnd } from '../../support/at-end.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { upload } from '../../support/service/jobs.ts';
import { ask, startOwnPostgres, startStandbyOf } from '../../support/service/own-postgres.ts';
import { startTestService } from '../../support/service/service.ts';
import { tone } from '../../support/uploads/uploads.ts';
import { until } from '../../support/until.ts';
import { mistaken, runAdmin, runAdminProcess } from './run-admin.ts';
import type { OwnPostgres } from '../../support/service/own-postgres.ts';

let primary: OwnPostgres;
let standby: OwnPostgres;
let dataDir: string;
let file: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'standby-'));
  file = join(dataDir, 'tone.wav');
  await writeFile(file, await tone(500));
  primary = await startOwnPostgres();
  atEnd(() => primary.leave());
  const service = await startTestService({ beside: { databaseUrl: primary.url, dataDir } });
  await upload(service, await makeAccount(service.db), file);
  await service.stop();
  standby = await startStandbyOf(primary);
  atEnd(() => standby.leave());
});

const nowhere = 'postgres://127.0.0.1:1/none';
const verify = (...args: string[]) =>
  runAdmin(['verify', ...args], { DATABASE_URL: nowhere, DATABASE_DIRECT_URL: nowhere, DATA_DIR: dataDir });

test('verify --database-url of a standby → every rule, as at the primary', async () => {
  const { code, stdout, stderr } = await verify('--database-url', standby.url);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('Everything holds.');
});

test('verify --database-url without a password → that of PGPASSWORD is taken', async () => {
  const url = new URL(standby.url);
  const PGPASSWORD = url.password;
  url.password = '';
  // The driver takes it from its process.
  const asked = (env: object) => runAdminProcess(['verify', '--database-url', url.href], { DATA_DIR: dataDir, ...env });
  expect(await asked({ PGPASSWORD })).toMatchObject({ code: 0, stderr: '' });
  expect(await asked({})).toMatchObject({ code: 1, stdout: '' });
});

test.each([
  ['a word', ['--database-url', 'secret']],
  ['a URL without a database', ['--database-url', 'postgres://me:secret@standby']],
  ['a URL of another kind', ['--database-url', 'postgress://me:se@"secret@standby/name']],
  ["libpq's own form", ['--database-url', 'host=standby password=secret']],
])('verify --database-url with %s → what to type, and not what was typed', async (_, args) => {
  const end = await verify(...args);
  expect(end).toEqual(mistaken('Type postgres://user@host:port/database, with its password in PGPASSWORD'));
  expect(end.stderr).not.toMatch(/secret/);
});

test.each([
  ['in a mistyped option', ['--databse-url=postgres://me:se@ secret@standby/name']],
  ['without an option', ['postgres://me:secret@standby/name']],
  ['in the query', ['postgres://standby/name?user=me&password=secret&sslmode=require']],
])('a URL %s → named without its password', async (_, args) => {
  const end = await verify(...args);
  expect(end).toEqual(mistaken(/standby\/name/));
  expect(end.stderr).not.toMatch(/secret/);
});

test('a session is erased at the primary, of which the standby hears a little later → no breach', async () => {
  const service = await startTestService({ beside: { databaseUrl: primary.url, dataDir } });
  const { sessionId } = await upload(service, await makeAccount(service.db), file);
  const known = () => ask(standby.url, `select from sessions where id = '${sessionId}'`);
  await until(known, (rows) => rows.length === 1);
  await ask(standby.url, 'select pg_wal_replay_pause()');
  await eraseSession(service, sessionId);
  const looking = verify('--database-url', standby.url);
  // It has missed the file, and the standby has told it that the session needs it.
  const asked = `query like '%isNeeded%' and state = 'idle' and pid <> pg_backend_pid()`;
  await until(
    () => ask(standby.url, `select from pg_stat_activity where ${asked}`),
    (rows) => rows.length > 0,
  );
  await ask(standby.url, 'select pg_wal_replay_resume()');
  expect(await looking).toMatchObject({ code: 0, stdout: expect.stringContaining('Everything holds.') });
  await service.stop();
});

test.each([
  ['between two statements', 'select count(*) from plans'],
  ['within a statement', 'select count(*), pg_sleep(30) from plans'],
])('the primary cleans up what a look still reads, %s → it is known as that', async (_, statement) => {
  await ask(standby.url, 'alter system set max_standby_streaming_delay = 0');
  await ask(standby.url, 'select pg_reload_conf()');
  const { db, close } = openDatabase(standby.url, () => {}, { server: 'any' });
  expect(await isStandby(db)).toBe(true);
  const look = inSnapshot(db, async (snapshot) => {
    await sql`select count(*) from plans`.execute(snapshot);
    const reading = until(() => sql.raw(statement).execute(snapshot).then(() => false)); // prettier-ignore
    await Promise.all([reading, cleanUp()]);
  });
  expect(isBrokenOff(await look.catch((error: unknown) => error))).toBe(true);
  await close();
});

async function cleanUp(): Promise<void> {
  await ask(primary.url, 'update plans set requests_per_minute = requests_per_minute');
  await ask(primary.url, 'vacuum plans');
}
