/**
 * `move --to-database`, from the embedded database to a server of one's own: what it refuses, broken off in every way and typed
 * again, what comes along, and the service that goes on there.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';
import { openDatabase } from '../../../db/connection/database.ts';
import { listLedger } from '../../../db/accounts/ledger.ts';
import { moveToDatabase } from '../../../scripts/admin/move.ts';
import { noProgress } from '../../../scripts/terminal/show-progress.ts';
import { FileAudioStore } from '../../../src/files/file-audio-store.ts';
import { VerifiedAudioStore } from '../../../src/files/verified-audio-store.ts';
import { cancelSession } from '../../../src/sessions/support.ts';
import { ask, useEmptyDatabase } from '../../rig/postgres.ts';
import { atEnd } from '../../support/at-end.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { asSupport } from '../../support/service/admin.ts';
import { expectSound } from '../../support/service/audit.ts';
import { createTestDatabase } from '../../support/service/database.ts';
import { dumpTables } from '../../support/service/dump-tables.ts';
import { final, upload } from '../../support/service/jobs.ts';
import { startProcess } from '../../support/service/processes.ts';
import { startTestService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { useFolder } from '../../support/use-folder.ts';
import { voice } from '../../support/uploads/uploads.ts';
import { startScript } from '../run-script.ts';
import { mistaken, refused, runAdmin } from './run-admin.ts';
import type { TestAccount } from '../../support/service/accounts.ts';
import type { Db } from '../../../db/connection/database.ts';

const folder = useFolder();
const [dataDir, file] = [join(folder, 'data'), join(folder, 'voice.wav')];
await mkdir(dataDir, { mode: 0o711 });
await writeFile(file, await voice(2_000));
const env = { DATA_DIR: dataDir };
const store = new FileAudioStore(dataDir);
const target = await useEmptyDatabase();
const moving = ['--json', 'move', '--to-database', target.href];
let databaseUrl: string;
let db: Db;
let account: TestAccount;
let [completed, failed, queued] = ['', '', ''];

const type = (url: string) => runAdmin(['move', '--to-database', url], env);

beforeAll(async () => {
  const postgres = await joinEmbeddedPostgres({ folder: join(dataDir, 'postgres') });
  atEnd(() => postgres.leave());
  databaseUrl = postgres.url;
  const opened = openDatabase(databaseUrl, () => {});
  atEnd(opened.close);
  db = opened.db;
  const service = await startTestService({ beside: { databaseUrl, dataDir } });
  try {
    account = await makeAccount(service.db, { balanceMs: 600_000 });
    const sent = async () => (await upload(service, account, file)).sessionId;
    const worker = await service.work();
    completed = await sent();
    await final(service, account, completed);
    await worker.stop();
    [failed, queued] = [await sent(), await sent()];
    await cancelSession(service, account.id, failed);
    expect(await type(target.href)).toEqual(refused(/^The service runs on this database: 1 API and 1 worker/));
  } finally {
    await service.stop();
  }
});

test.each([
  [[], /Type where to: --to-database/],
  [
    ['--to-store', 's3://bucket/audio'],
    /--to-store is gone: stop the service, copy the audio and its mark .* set AUDIO_STORE/,
  ],
  [['--to-database', 'db.internal/secret-word'], /--to-database is no address of a database. Type postgres:/],
])('%j → a mistake, which is not repeated', async (options, sentence) => {
  const end = await runAdmin(['move', ...options], env);
  expect(end).toEqual(mistaken(sentence));
  expect(end.stderr).not.toContain('secret-word');
});

test.each([
  ['the same database', async () => databaseUrl, /^The service uses this database already/],
  ['tables of somebody else', withTable, /^The new database is in use: it has others\. Make an empty one\./],
  ['accounts', withAccount, /^The new database holds data: accounts, or what support did\. Make an empty one\./],
])('a target with %s → refused, and nothing was touched', async (_, make, sentence) => {
  const before = await store.readStoreId();
  expect(await type(await make())).toEqual(refused(sentence));
  expect(await store.readStoreId()).toBe(before);
});

async function withTable(): Promise<string> {
  const { href } = await useEmptyDatabase();
  await ask(href, 'create table others ()');
  return href;
}

async function withAccount(): Promise<string> {
  const other = await createTestDatabase();
  atEnd(other.drop);
  const opened = openDatabase(other.url, () => {});
  await makeAccount(opened.db).finally(opened.close);
  return other.url;
}

test('somebody writes to the old database → refused, and the new one stays empty', async () => {
  await db.transaction().execute(async (trx) => {
    await sql`update sessions set title = title`.execute(trx);
    expect(await type(target.href)).toEqual(refused(/Somebody writes to the old database: stop the service/));
  });
  expect((await rowsOf(target.href))['public.accounts']).toBe('');
});

test('interrupted, then cut off as it commits, then killed with kill -9 → the new one stays empty; again → all is there, once', async () => {
  const move = (bareStore: FileAudioStore, onReach: () => void, signal: AbortSignal) => {
    const progress = { ...noProgress, begin: () => ({ ...noProgress.begin('', 1), reach: onReach }) };
    return asSupport(env, (admin) => moveToDatabase({ ...admin, bareStore }, target.href, progress, signal));
  };
  const interruption = new AbortController();
  const interrupted = move(store, () => interruption.abort(), interruption.signal);
  await expect(interrupted).rejects.toThrow('Interrupted: nothing was changed.');
  const dying = Object.assign(new FileAudioStore(dataDir), {
    async writeStoreId(storeId: string) {
      await store.writeStoreId(storeId);
      throw new Error('the process dies here');
    },
  });
  const never = new AbortController().signal;
  await expect(move(dying, () => {}, never)).rejects.toThrow('the process dies here');
  await killWhileItCopies();
  expect((await rowsOf(target.href))['public.accounts']).toBe('');

  const end = await runAdmin(moving, env);
  expect(end).toMatchObject({ code: 0, stderr: '' });
  expect(end.stdout).not.toContain(target.password);
  expect(JSON.parse(end.stdout)).toMatchObject({
    ...{ from: `${dataDir}/postgres`, tables: expect.any(Number), verify: { sound: true } },
  });
  expect(await rowsOf(target.href)).toEqual(await rowsOf(databaseUrl));
});

/** A row that somebody else is about to put there holds up the copying of its table. */
async function killWhileItCopies(): Promise<void> {
  const { username, password } = new URL(process.env.TEST_DATABASE_URL!);
  // A superuser, whom no foreign key stops.
  const superuser = openDatabase(Object.assign(new URL(target), { username, password }).href, () => {});
  atEnd(superuser.close);
  await superuser.db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    const row = { account_id: account.id, session_id: completed, segments: '[]', words: '[]' };
    await trx.insertInto('transcripts').values(row).execute();
    const first = startScript(['scripts/admin/main.ts', ...moving], env);
    await until(async () => {
      const { rows } = await sql`select from pg_stat_activity where wait_event = 'transactionid'
        and query like 'copy transcripts %'`.execute(superuser.db);
      return rows.length === 1;
    });
    first.kill('SIGKILL');
    expect((await first.ended).code).toBeNull();
    await sql`rollback`.execute(trx).catch(() => {});
  });
}

/** All rows by table; `verify` and moves themselves change the tables left out. */
async function rowsOf(url: string): Promise<Record<string, string>> {
  const { db: other, close } = openDatabase(url, () => {}, { maxConnections: 1 });
  const tables = [...(await dumpTables(other).finally(close))];
  return Object.fromEntries(tables.filter(([name]) => !/\.(kysely_migration|version|audio_store|leases)/.test(name)));
}

test('moved → the old place takes nothing, the new one goes on; store adopt goes back', async () => {
  const again = await type(target.href);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('It was moved before.') });
  const old = await startProcess('start-api', env);
  expect((await send(old.url)).status).toBe(503);
  await old.stop();

  const service = await startProcess('start', { ...env, DATABASE_URL: target.href });
  const get = async (session: string) => {
    const headers = { Authorization: `Bearer ${account.key}` };
    const answer = await fetch(`${service.url}/v1/sessions/${session}/transcript?wait=10`, { headers });
    return (await answer.json()) as { status: string };
  };
  expect(await until(() => get(queued), ({ status }) => status !== 'queued' && status !== 'processing')) // prettier-ignore
    .toMatchObject({ status: 'completed' });
  expect(await get(completed)).toMatchObject({ status: 'completed' });
  expect(await get(failed)).toMatchObject({ status: 'failed' });
  expect((await send(service.url)).status).toBe(202);
  const moved = openDatabase(target.href, () => {});
  atEnd(moved.close);
  const charged = async () => (await listLedger(moved.db, account.id)).flatMap(({ session_id }) => session_id ?? []);
  await until(async () => (await charged()).length === 3);
  await service.stop();
  expect((await charged()).slice(0, 2)).toEqual([completed, queued]);
  await expectSound({ db: moved.db, dataDir });

  expect(await runAdmin(['store', 'adopt'], env)).toMatchObject({ code: 0 });
  await new VerifiedAudioStore(db, store).open();
  expect(await type(target.href)).toEqual(refused(/^The new database holds data/));
});

async function send(url: string): Promise<Response> {
  const body = new FormData();
  body.set('file', new Blob([new Uint8Array(await voice(2_000))]), 'voice.wav');
  const headers = { Authorization: `Bearer ${account.key}` };
  return fetch(`${url}/v1/transcriptions`, { method: 'POST', headers, body });
}
