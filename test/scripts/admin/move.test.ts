/** `move --to-database`: what it refuses, and what comes along. Killed in between: move.system.test.ts. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { moveToDatabase } from '../../../scripts/admin/move.ts';
import { noProgress } from '../../../scripts/terminal/show-progress.ts';
import { openDatabase } from '../../../db/connection/database.ts';
import { FileAudioStore } from '../../../src/files/file-audio-store.ts';
import { OwnAudioStore } from '../../../src/files/own-audio-store.ts';
import { ask } from '../../rig/postgres.ts';
import { atEnd } from '../../support/at-end.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { asSupport } from '../../support/service/admin.ts';
import { createTestDatabase } from '../../support/service/database.ts';
import { useEmptyDatabase } from '../../support/service/empty-database.ts';
import { final, upload } from '../../support/service/jobs.ts';
import { startTestService } from '../../support/service/service.ts';
import { ScriptedRecognizer } from '../../support/models/scripted-recognizer.ts';
import { useFolder } from '../../support/use-folder.ts';
import { tone } from '../../support/uploads/uploads.ts';
import { environmentOf, mistaken, refused, runAdmin } from './run-admin.ts';
import type { Progress } from '../../../scripts/terminal/progress.ts';

const folder = useFolder();
const { url: databaseUrl, drop } = await createTestDatabase();
atEnd(drop);
const { db, close } = openDatabase(databaseUrl, () => {});
atEnd(close);
const dataDir = join(folder, 'data');
const place = { databaseUrl, dataDir };
const env = environmentOf(place);
const store = new FileAudioStore(dataDir);
const never = new AbortController().signal;
const target = (await useEmptyDatabase()).href;

const type = (url: string) => runAdmin(['move', '--to-database', url], env);
const move = (url: string, progress: Progress = noProgress, signal = never, bareStore = store) =>
  asSupport(env, (admin) => moveToDatabase({ ...admin, bareStore }, url, progress, signal));

/** A sum over all rows of each table, whatever its columns are; `verify` and moves themselves change the ones left out. */
async function sumsOf(url: string): Promise<Record<string, string>> {
  const other = openDatabase(url, () => {}, { maxConnections: 1 });
  try {
    const { rows } = await sql<{ name: string }>`select c.oid::regclass::text as name from pg_class c
      where relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace) and relkind in ('r', 'p')
        and not relispartition and relname !~ '^(kysely_migration|version|audio_store|turns)'`.execute(other.db);
    const sums: Record<string, string> = {};
    for (const { name } of rows) {
      const sum = sql<{
        sum: string;
      }>`select count(*) || ' ' || coalesce(md5(string_agg(t::text, ' ' order by t::text)), '')
        as sum from ${sql.raw(name)} t`;
      sums[name] = (await sum.execute(other.db)).rows[0]!.sum;
    }
    return sums;
  } finally {
    await other.close();
  }
}

beforeAll(async () => {
  await mkdir(dataDir);
  const service = await startTestService({ beside: place });
  try {
    const account = await makeAccount(service.db);
    const file = join(folder, 'tone.wav');
    await writeFile(file, await tone(500));
    const worker = await service.work(new ScriptedRecognizer());
    const { sessionId } = await upload(service, account, file);
    await final(service, account, sessionId);
    await worker.stop();
    await upload(service, account, file);
    expect(await type(target)).toEqual(refused(/^The service runs on this database: 1 API and 1 worker/));
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
])('%j → a mistake', async (options, sentence) => {
  expect(await runAdmin(['move', ...options], env)).toEqual(mistaken(sentence));
});

test('no address of a database → a mistake that does not repeat it', async () => {
  const end = await type('db.internal/secret-word');
  expect(end).toEqual(mistaken(/--to-database is no address of a database. Type postgres:/));
  expect(end.stderr).not.toContain('secret-word');
});

test.each([
  ['the same database', async () => databaseUrl, /^The service uses this database already/],
  ['tables of somebody else', () => withTable(), /^The new database is in use: it has others\. Make an empty one\./],
  ['another encoding', async () => latin(), /^The new database has the encoding LATIN1: make one with UTF8\./],
  [
    'no right to make tables',
    () => withoutRights(),
    /may make no tables .* Type there: alter database \w+ owner to \w+;/,
  ],
  [
    'accounts',
    () => withAccount(),
    /^The new database holds data: accounts, or what support did\. Make an empty one\./,
  ],
])('a target with %s → refused, and nothing was touched', async (_, make, sentence) => {
  const before = await store.readMark();
  expect(await type(await make())).toEqual(refused(sentence));
  expect(await store.readMark()).toBe(before);
});

async function withTable(): Promise<string> {
  const { href } = await useEmptyDatabase();
  await ask(href, 'create table others ()');
  return href;
}

const latin = async () => (await useEmptyDatabase(`encoding 'LATIN1' locale 'C'`)).href;

async function withoutRights(): Promise<string> {
  const [mine, others] = [await useEmptyDatabase(), await useEmptyDatabase()];
  return Object.assign(mine, { pathname: others.pathname }).href;
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
    expect(await type(target)).toEqual(refused(/Somebody writes to the old database: stop the service/));
  });
  expect((await sumsOf(target))['accounts']).toMatch(/^0 /);
});

test('interrupted, then cut off as it commits → the new one stays empty; again → all is there, once', async () => {
  const interruption = new AbortController();
  const interrupting = {
    ...noProgress,
    begin: () => ({ ...noProgress.begin('', 1), reach: () => interruption.abort() }),
  };
  await expect(move(target, interrupting, interruption.signal)).rejects.toThrow('Interrupted: nothing was changed.');
  const dying = Object.assign(new FileAudioStore(dataDir), {
    async writeMark(mark: string) {
      await store.writeMark(mark);
      throw new Error('the process dies here');
    },
  });
  await expect(move(target, noProgress, never, dying)).rejects.toThrow('the process dies here');
  expect((await sumsOf(target))['accounts']).toMatch(/^0 /);

  const end = await runAdmin(['--json', 'move', '--to-database', target], env);
  expect(end).toMatchObject({ code: 0, stderr: '' });
  const shown = new URL(target);
  expect(end.stdout).not.toContain(shown.password);
  expect(JSON.parse(end.stdout)).toMatchObject({ tables: expect.any(Number), verify: { sound: true } });
  expect(await sumsOf(target)).toEqual(await sumsOf(databaseUrl));
});

test('typed once more → only verified; the old database stands still, and store adopt goes back to it', async () => {
  const { text, exitCode } = await move(target);
  expect({ text, exitCode }).toEqual({ exitCode: 0, text: expect.stringContaining('It was moved before.') });
  await expect(new OwnAudioStore(db, store).open()).rejects.toThrow('holds the mark of another database');
  const moved = openDatabase(target, () => {});
  await new OwnAudioStore(moved.db, store).open().finally(moved.close);
  expect(await runAdmin(['store', 'adopt'], env)).toMatchObject({ code: 0 });
  await new OwnAudioStore(db, store).open();
  expect(await type(target)).toEqual(refused(/^The new database holds data/));
});
