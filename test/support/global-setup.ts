/** One embedded PostgreSQL for the whole run, with a migrated template that every test file clones. */
import { mkdtempSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { joinEmbeddedPostgres } from '../../db/embedded/embedded-postgres.ts';
import { layFoundation } from '../../src/foundation.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { EmbeddedPostgres } from '../../db/embedded/embedded-postgres.ts';

declare global {
  var testPostgres: { server: EmbeddedPostgres; folder: string } | undefined;
}

export default async function setUp(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'transcription-tests-'));
  await chmod(folder, 0o711);
  const server = await joinEmbeddedPostgres({ folder: join(folder, 'postgres') });
  globalThis.testPostgres = { server, folder };
  process.env.TEST_DATABASE_URL = server.url;
  process.env.TEST_FOLDER = folder;

  const config = readConfig({ DATABASE_URL: server.url, DATA_DIR: join(folder, 'template') });
  const foundation = await layFoundation(config, createLog({ logLevel: 'silent' }), 'api');
  await foundation.close();
}
