/**
 * One embedded PostgreSQL for the whole run, with a migrated template that every test file clones.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { openDatabase } from '../../db/connection/database.ts';
import { joinEmbeddedPostgres } from '../../db/embedded/embedded-postgres.ts';
import { installLackingModels } from '../../scripts/model/sources.ts';
import { showProgressOn } from '../../scripts/terminal/show-progress.ts';
import { readConfig } from '../../src/config/config.ts';
import { migrateOnStart } from '../../src/process/migration.ts';
import type { ChildProcess } from 'node:child_process';
import type { Db } from '../../db/connection/database.ts';
import type { EmbeddedPostgres } from '../../db/embedded/embedded-postgres.ts';

declare global {
  var testRun: { server?: EmbeddedPostgres; folder: string; watchdog: ChildProcess } | undefined;
}

export default async function setUp({ testTimeout }: { testTimeout?: number }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tests-'));
  // As /tmp is: everybody's temporary files go here, also those of the user who runs PostgreSQL for root.
  chmodSync(folder, 0o1777);
  const watchdog = watch(folder);
  process.env.TEST_FOLDER = folder;
  process.env.TMPDIR = folder;
  process.env.TEST_TIME_LIMIT_MS = String(testTimeout ?? 60_000);

  globalThis.testRun = { folder, watchdog };
  await makeTemplate(folder);
}

async function makeTemplate(folder: string): Promise<void> {
  const server = await joinEmbeddedPostgres({ folder: join(folder, 'postgres') });
  globalThis.testRun!.server = server;
  process.env.TEST_DATABASE_URL = server.url;

  const config = readConfig({ DATABASE_URL: server.url, DATA_DIR: join(folder, 'template') });

  const { signal } = new AbortController();
  await installLackingModels(config, { env: process.env, signal, progress: showProgressOn(process.stderr) });
  // Tables and nothing else: each copy is told by its own service which audio store is its own.
  const { db, close } = openDatabase(server.url, () => {}, { maxConnections: 1 });
  await withoutSync(db);
  await migrateOnStart(db, { url: server.url, mayMigrate: true, onNotice: () => {} });
  await close();
}

/** Only a machine that fails would lose what is not on its disk yet. It makes a copy of the template five times as quick. */
async function withoutSync(db: Db): Promise<void> {
  for (const setting of ['fsync', 'full_page_writes'])
    await sql`alter system set ${sql.raw(setting)} = off`.execute(db);
  await sql`select pg_reload_conf()`.execute(db);
}

/** In a session of its own: ^C in a terminal ends jest and everything else that runs in the foreground. */
function watch(folder: string): ChildProcess {
  const main = join(import.meta.dirname, 'run/watchdog.ts');
  return spawn(process.execPath, [main, folder], { detached: true, stdio: ['pipe', 'ignore', 'inherit'] });
}
