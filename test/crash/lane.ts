/** One whole service in a folder of its own: PostgreSQL, API, worker, and a relay before each of the two. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../db/connection/database.ts';
import { migrateToLatest } from '../../db/migrate.ts';
import { nodeOfService } from '../rig/node-of-service.ts';
import { here, steadyPort } from '../rig/place.ts';
import { startWireRelay } from '../rig/wire-relay.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { startCrashingPostgres } from './postgres.ts';
import type { Database, Db } from '../../db/connection/database.ts';
import type { Environment } from '../rig/aftermath.ts';
import type { Server } from '../rig/client.ts';
import type { Machine } from '../rig/machine.ts';
import type { WireRelay } from '../rig/wire-relay.ts';
import type { TestAccount } from '../support/service/accounts.ts';
import type { CrashingPostgres } from './postgres.ts';

export interface Lane {
  dataDir: string;
  api: Machine;
  worker: Machine;
  apiRelay: WireRelay;
  workerRelay: WireRelay;
  account: TestAccount;
  /** The API, the same after every start, and the account's key. */
  server: Server;
  /** A connection of the test's own, around the relays. */
  db(): Db;
  /** What an operator would set for a process on this database, around the relays. */
  environment(): Environment;
  /** Kills PostgreSQL, and lets it come back after a while. */
  crashPostgres(awayMs: number): Promise<void>;
  ready(): Promise<void>;
  close(): Promise<void>;
}

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
  const relays = [
    await startWireRelay(postgres.url(), await steadyPort()),
    await startWireRelay(postgres.url(), await steadyPort()),
  ] as const;
  const nodeBehind = async ({ url }: WireRelay, script: 'start-api' | 'start-worker', port: number) => {
    const env = {
      DATABASE_URL: url,
      PORT: String(port),
      OPS_PORT: String(await steadyPort()),
      VALIDATE_RESPONSES: '1',
    };
    return nodeOfService(here(script), script, { folder: dataDir, env, startsAgain: true });
  };
  const port = await steadyPort();
  const api = await nodeBehind(relays[0], 'start-api', port);
  const worker = await nodeBehind(relays[1], 'start-worker', port);
  await Promise.all([api.begin(), worker.begin()]);
  let database: Database | undefined;
  let crashing: Promise<void> | undefined;
  const crashPostgres = async (awayMs: number) => {
    await postgres.kill();
    for (const relay of relays) relay.down();
    await sleep(awayMs);
    await database?.close();
    database = undefined;
    await postgres.comeBack();
    for (const relay of relays) await relay.up(postgres.url());
  };
  return {
    ...{ dataDir, api, worker, apiRelay: relays[0], workerRelay: relays[1], account },
    server: { url: `http://127.0.0.1:${port}`, key: account.key },
    db: () => (database ??= openDatabase(postgres.url(), () => {})).db,
    environment: () => ({ DATABASE_URL: postgres.url(), DATA_DIR: dataDir }),
    crashPostgres: (awayMs) => (crashing = crashPostgres(awayMs)),
    ready: async () => void (await Promise.all([api.up(), worker.up()])),
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
  const limits = { requests_per_minute: 1_000_000, queued_sessions: 10_000 };
  return makeAccount(db, { balanceMs: 1_000 * 3_600_000, limits }).finally(close);
}
