/** The whole fleet: two API nodes, two workers, the database, the object store and the balancer, each on a machine of its own. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '../../db/database.ts';
import { migrateToLatest } from '../../db/migrate.ts';
import { startBalancer } from './balancer.ts';
import { Machine } from './machine.ts';
import { addPlace, layNetwork } from './network.ts';
import { startObjectStore } from './object-store.ts';
import { until } from '../support/until.ts';
import type { Db } from '../../db/database.ts';
import type { Balancer } from './balancer.ts';
import type { ObjectStore } from './object-store.ts';

/** What of the fleet keeps the rows: one PostgreSQL, or several with whoever chooses among them. */
export interface DatabaseMachines {
  url: string;
  /** In the order in which they are stopped. */
  machines: Machine[];
}

export interface Fleet {
  apis: Machine[];
  workers: Machine[];
  databases: Machine[];
  store: ObjectStore;
  balancer: Balancer;
  /** A way of the test's own to the database. */
  db: Db;
  /** What an operator sets for `npm run admin`. */
  environment(): Record<string, string>;
  /** When every process says that it serves, and the balancer knows it. */
  ready(): Promise<void>;
  machines(): Machine[];
  close(): Promise<void>;
}

const root = join(import.meta.dirname, '../..');
const ports = { PORT: '8080', OPS_PORT: '9090' };
const readyLimitMs = 120_000;

/**
 * @param versitygw where the program is
 * @param startDatabase makes an empty one
 */
export async function startFleet(
  folder: string,
  versitygw: string,
  startDatabase: () => Promise<DatabaseMachines>,
): Promise<Fleet> {
  await layNetwork();
  const [api1, api2] = [await addPlace('api1', 11), await addPlace('api2', 12)];
  const [worker1, worker2] = [await addPlace('worker1', 21), await addPlace('worker2', 22)];
  const balancerPlace = await addPlace('balancer', 51);
  const [{ url: databaseUrl, machines: databases }, store] = await Promise.all([
    startDatabase(),
    startObjectStore(await addPlace('store', 41), versitygw, join(folder, 'store')),
  ]);
  await migrateToLatest(databaseUrl);
  const database = openDatabase(databaseUrl, () => {});

  const shared = { DATABASE_URL: databaseUrl, ...store.env };
  const settings = {
    ...{ ...shared, ...ports, TRUST_PROXY: balancerPlace.address, MIN_FREE_DISK: '0', VALIDATE_RESPONSES: '1' },
    ...{ WORKER_CONCURRENCY: '2', NODE_COMPILE_CACHE: join(folder, 'compiled') },
  };
  const nodeAt = async (place: typeof api1, script: string) => {
    const dataDir = join(folder, place.name);
    await mkdir(dataDir);
    const ready = `http://${place.address}:${ports.OPS_PORT}/readyz`;
    return new Machine(place, {
      command: [process.execPath, join(root, 'src', script)],
      env: { ...settings, HOST: place.address, DATA_DIR: dataDir },
      folder: dataDir,
      isUp: async () => (await fetch(ready, { signal: AbortSignal.timeout(2_500) })).ok,
    });
  };
  const apis = [await nodeAt(api1, 'start-api.ts'), await nodeAt(api2, 'start-api.ts')];
  const workers = [await nodeAt(worker1, 'start-worker.ts'), await nodeAt(worker2, 'start-worker.ts')];
  await Promise.all([...apis, ...workers].map((machine) => machine.start()));
  const balancer = await startBalancer(balancerPlace, [api1, api2], join(folder, 'balancer'));
  const machines = () => [...apis, ...workers, ...databases, store.machine, balancer.machine];
  return {
    ...{ apis, workers, databases, store, balancer, db: database.db, machines },
    environment: () => ({ ...shared, DATA_DIR: join(folder, 'support') }),
    async ready() {
      await Promise.all(machines().map((machine) => machine.up()));
      await until(async () => (await balancer.nodesUp()) === apis.length, Boolean, readyLimitMs);
    },
    async close() {
      await database.close();
      await Promise.all([...apis, ...workers, balancer.machine].map((machine) => machine.stop()));
      await store.machine.stop();
      for (const machine of databases) await machine.stop();
    },
  };
}
