/** One whole service in a folder of its own: PostgreSQL, API, worker, and a relay before each of the two. */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { steadyPort } from '../rig/ports.ts';
import { startMigrated } from '../rig/postgres.ts';
import { startRelay } from '../support/faults/relay.ts';
import { isReady, machineOf } from '../support/service/processes.ts';
import type { Relay } from '../support/faults/relay.ts';

export type Lane = Awaited<ReturnType<typeof startLane>>;

/** @param dataDir where API and worker keep their files, if it is to be on a disk of its own */
export async function startLane(dataDir?: string) {
  const folder = dataDir ?? join(await mkdtemp(join(process.env.TEST_FOLDER!, 'lane-')), 'data');
  await mkdir(folder, { recursive: true });
  const { machine: postgres, url, db, account } = await startMigrated();
  const [apiRelay, workerRelay] = [await startRelay(url), await startRelay(url)];
  const port = String(await steadyPort());
  const nodeBehind = async (relay: Relay, script: 'start-api' | 'start-worker') => {
    const opsPort = String(await steadyPort());
    const env = { DATABASE_URL: relay.url, DATA_DIR: folder, PORT: port, OPS_PORT: opsPort, WORKER_CONCURRENCY: '2' };
    return machineOf(script, env, { startsAgain: true, isUp: () => isReady(opsPort) });
  };
  const [api, worker] = [await nodeBehind(apiRelay, 'start-api'), await nodeBehind(workerRelay, 'start-worker')];
  await Promise.all([api.begin(), worker.begin()]);
  return {
    ...{ dataDir: folder, api, worker, apiRelay, workerRelay, account, machines: [api, worker] },
    /** The API, the same after every start, and the account's key. */
    server: { url: `http://127.0.0.1:${port}`, key: account.key },
    /** A way of the test's own to the database, around the relays. */
    db,
    /** What an operator would set for a process on this database, around the relays. */
    environment: { DATABASE_URL: url, DATA_DIR: folder },
    /** Kills PostgreSQL, and lets it come back after a while. */
    async crashPostgres(awayMs: number): Promise<void> {
      await postgres.kill();
      for (const relay of [apiRelay, workerRelay]) relay.cut();
      await sleep(awayMs);
      await postgres.start();
      for (const relay of [apiRelay, workerRelay]) await relay.mend();
    },
    ready: async () => void (await Promise.all([api.up(), worker.up()])),
  };
}
