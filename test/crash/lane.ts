/** One whole service in a folder of its own: PostgreSQL, API, worker, and a relay before each of the two. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../db/connection/database.ts';
import { migrateToLatest } from '../../db/migrations/migrate.ts';
import { nodeOfService } from '../rig/node-of-service.ts';
import { here, steadyPort } from '../rig/place.ts';
import { startPostgres } from '../rig/postgres.ts';
import { startWireRelay } from '../rig/wire-relay.ts';
import { makeAccount } from '../support/service/accounts.ts';
import type { WireRelay } from '../rig/wire-relay.ts';

export type Lane = Awaited<ReturnType<typeof startLane>>;

/** With room for every upload of a long run. */
const limits = { requests_per_minute: 1_000_000, queued_sessions: 10_000 };

/**
 * @param folder its own, which exists
 * @param dataDir where API and worker keep their files; PostgreSQL is in `folder` all the same
 */
export async function startLane(folder: string, dataDir = join(folder, 'data')) {
  await mkdir(dataDir, { recursive: true });
  const { machine: postgres, url } = await startPostgres(
    here('PostgreSQL'),
    join(folder, 'postgres'),
    await steadyPort(),
  );
  await migrateToLatest(url);
  const { db } = openDatabase(url, () => {});
  const account = await makeAccount(db, { balanceMs: 1_000 * 3_600_000, limits });
  const [apiRelay, workerRelay] = [await startWireRelay(url, await steadyPort()), await startWireRelay(url, await steadyPort())]; // prettier-ignore
  const port = await steadyPort();
  const nodeBehind = async (relay: WireRelay, script: 'start-api' | 'start-worker') => {
    const ports = { PORT: String(port), OPS_PORT: String(await steadyPort()) };
    const env = { DATABASE_URL: relay.url, ...ports };
    return nodeOfService(here(script), script, { folder: dataDir, env, startsAgain: true });
  };
  const api = await nodeBehind(apiRelay, 'start-api');
  const worker = await nodeBehind(workerRelay, 'start-worker');
  await Promise.all([api.begin(), worker.begin()]);
  return {
    ...{ dataDir, api, worker, apiRelay, workerRelay, account },
    /** The API, the same after every start, and the account's key. */
    server: { url: `http://127.0.0.1:${port}`, key: account.key },
    /** A way of the test's own to the database, around the relays. */
    db,
    /** What an operator would set for a process on this database, around the relays. */
    environment: { DATABASE_URL: url, DATA_DIR: dataDir },
    /** Kills PostgreSQL, and lets it come back after a while. */
    async crashPostgres(awayMs: number): Promise<void> {
      await postgres.kill();
      for (const relay of [apiRelay, workerRelay]) relay.down();
      await sleep(awayMs);
      await postgres.start();
      for (const relay of [apiRelay, workerRelay]) await relay.up();
    },
    ready: async () => void (await Promise.all([api.up(), worker.up()])),
    /** Only what would leave something: all else ends with this process. */
    close: () => postgres.stop('SIGINT'),
  };
}
