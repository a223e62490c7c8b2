/** The whole fleet: two API nodes, two workers, the database, the object store and the balancer, each on a machine of its own. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '../../db/connection/database.ts';
import { migrateToLatest } from '../../db/migrations/migrate.ts';
import { startHaproxy } from '../rig/haproxy.ts';
import { addPlace, layNetwork } from '../rig/network.ts';
import { nodeOfService } from '../rig/node-of-service.ts';
import { startObjectStore } from '../rig/object-store.ts';
import { until } from '../support/until.ts';
import type { Db } from '../../db/connection/database.ts';
import type { Environment } from '../rig/aftermath.ts';
import type { Haproxy } from '../rig/haproxy.ts';
import type { Machine } from '../rig/machine.ts';
import type { ObjectStore } from '../rig/object-store.ts';

/** What of the fleet keeps the rows: one PostgreSQL, or several with whoever chooses among them. */
export interface DatabaseMachines {
  url: string;
  machines: Machine[];
}

export interface Fleet {
  apis: Machine[];
  workers: Machine[];
  databases: Machine[];
  store: ObjectStore;
  balancer: Haproxy;
  /** Where clients send their requests. */
  url: string;
  /** A way of the test's own to the database. */
  db: Db;
  /** What an operator sets for `npm run admin`. */
  environment(dataDir?: string): Environment;
  /** When every process says that it serves, and the balancer knows it. */
  ready(): Promise<void>;
  machines(): Machine[];
}

const ports = { PORT: '8080', OPS_PORT: '9090' };
const readyLimitMs = 120_000;

/** A node of the API, past the balancer. */
export const urlOf = ({ place }: Machine): string => `http://${place.address}:${ports.PORT}`;

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
  const balancerPlace = await addPlace('balancer', 51);
  const [{ url: databaseUrl, machines: databases }, store] = await Promise.all([
    startDatabase(),
    startObjectStore(await addPlace('store', 41), versitygw, join(folder, 'store')),
  ]);
  await migrateToLatest(databaseUrl);
  const { db } = openDatabase(databaseUrl, () => {});

  const shared = { DATABASE_URL: databaseUrl, ...store.env };
  const nodeAt = async (name: string, number: number, script: 'start-api' | 'start-worker') => {
    const place = await addPlace(name, number);
    const dataDir = join(folder, name);
    await mkdir(dataDir);
    const own = { HOST: place.address, TRUST_PROXY: balancerPlace.address };
    return nodeOfService(place, script, { folder: dataDir, env: { ...shared, ...ports, ...own } });
  };
  const apis = [await nodeAt('api1', 11, 'start-api'), await nodeAt('api2', 12, 'start-api')];
  const workers = [await nodeAt('worker1', 21, 'start-worker'), await nodeAt('worker2', 22, 'start-worker')];
  await Promise.all([...apis, ...workers].map((machine) => machine.start()));
  const [API_1, API_2] = apis.map(({ place }) => `${place.address}:${ports.PORT}`) as [string, string];
  const balancer = await startHaproxy(balancerPlace, {
    ...{ configuration: 'haproxy.cfg', port: 80, env: { API_1, API_2 }, folder: join(folder, 'balancer') },
    isEnough: (up) => up > 0,
  });
  const machines = () => [...apis, ...workers, ...databases, store.machine, balancer.machine];
  return {
    ...{ apis, workers, databases, store, balancer, db, machines },
    url: `http://${balancerPlace.address}`,
    environment: (dataDir = join(folder, 'support')) => ({ ...shared, DATA_DIR: dataDir }),
    async ready() {
      await Promise.all(machines().map((machine) => machine.up()));
      await until(async () => (await balancer.serversUp()) === apis.length, Boolean, readyLimitMs);
    },
  };
}
