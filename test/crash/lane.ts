/** One whole service in a folder of its own: PostgreSQL, API, worker, and a relay before each of the two. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '../../db/database.ts';
import { migrateToLatest } from '../../db/migrate.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { steadyPort } from './steady-port.ts';
import { startCrashingPostgres } from './postgres.ts';
import { supervise } from './supervised.ts';
import { startWireRelay } from './wire-relay.ts';
import { until } from '../support/until.ts';
import type { Database, Db } from '../../db/database.ts';
import type { TestAccount } from '../support/service/accounts.ts';
import type { CrashingPostgres } from './postgres.ts';
import type { Supervised } from './supervised.ts';
import type { WireRelay } from './wire-relay.ts';

export interface Lane {
  dataDir: string;
  postgres: CrashingPostgres;
  api: Supervised;
  worker: Supervised;
  apiRelay: WireRelay;
  workerRelay: WireRelay;
  account: TestAccount;
  /** `http://127.0.0.1:<port>`, the same after every start. */
  url: string;
  /** A connection of the test's own, around the relays. */
  db(): Db;
  /** What an operator would set for a process on this database, around the relays. */
  environment(): Record<string, string>;
  /** Kills PostgreSQL, and lets it come back after a while. */
  crashPostgres(awayMs: number): Promise<void>;
  ready(): Promise<void>;
  close(): Promise<void>;
}

const startLimitMs = 600_000;

/**
 * @param folder its own, which exists
 * @param dataDir where API and worker keep their files; PostgreSQL is in `folder` all the same
 */
export async function startLane(folder: string, dataDir = join(folder, 'data')): Promise<Lane> {
  await mkdir(dataDir, { recursive: true });
  const postgres = await startCrashingPostgres(join(folder, 'postgres'));
  try {
    return await startAround(postgres, dataDir);
  } catch (error) {
    await postgres.close();
    throw error;
  }
}

async function startAround(postgres: CrashingPostgres, dataDir: string): Promise<Lane> {
  const account = await prepareAccount(postgres.url());
  const [apiRelay, workerRelay] = [
    await startWireRelay(postgres.url(), await steadyPort()),
    await startWireRelay(postgres.url(), await steadyPort()),
  ];
  const port = await steadyPort();
  const environment = () => ({
    ...{ DATABASE_URL: postgres.url(), DATA_DIR: dataDir, PORT: String(port), OPS_PORT: '0', MIN_FREE_DISK: '0' },
    ...{ WORKER_CONCURRENCY: '2', VALIDATE_RESPONSES: '1' },
  });
  const api = supervise('src/start-api.ts', 'api answers', { ...environment(), DATABASE_URL: apiRelay.url });
  const worker = supervise('src/start-worker.ts', 'worker takes jobs', {
    ...environment(),
    DATABASE_URL: workerRelay.url,
  });
  const relays = [apiRelay, workerRelay];
  let database: Database | undefined;
  let crashing: Promise<void> | undefined;
  const crashPostgres = async (awayMs: number) => {
    await postgres.kill();
    for (const relay of relays) relay.down();
    await new Promise((resolve) => setTimeout(resolve, awayMs));
    await database?.close();
    database = undefined;
    await postgres.comeBack();
    for (const relay of relays) await relay.up(postgres.url());
  };
  return {
    ...{ dataDir, postgres, api, worker, apiRelay, workerRelay, account, environment },
    url: `http://127.0.0.1:${port}`,
    db: () => (database ??= openDatabase(postgres.url(), () => {})).db,
    crashPostgres: (awayMs) => (crashing = crashPostgres(awayMs)),
    async ready() {
      const isReady = () => api.isReady() && worker.isReady();
      await until(isReady, (ready) => ready, startLimitMs);
    },
    async close() {
      await crashing?.catch(() => {});
      await Promise.all([api.stop(), worker.stop()]);
      for (const relay of relays) relay.down();
      await database?.close();
      await postgres.close();
    },
  };
}

/** With room for every upload of a long run. */
async function prepareAccount(databaseUrl: string): Promise<TestAccount> {
  await migrateToLatest(databaseUrl);
  const { db, close } = openDatabase(databaseUrl, () => {});
  try {
    const limits = { requests_per_minute: 1_000_000, queued_sessions: 10_000 };
    return await makeAccount(db, { plan: 'enterprise', balanceMs: 1_000 * 3_600_000, limits });
  } finally {
    await close();
  }
}
