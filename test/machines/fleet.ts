/** Two API and two worker processes with one folder, behind HAProxy, with PgBouncer before their database. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setRoleDefaults } from '../../db/connection/pooler.ts';
import { steadyPort } from '../rig/ports.ts';
import { startMigrated } from '../rig/postgres.ts';
import { isReady, machineOf } from '../support/service/processes.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';
import { startHaproxy } from './haproxy.ts';
import { startPgBouncer } from './pgbouncer.ts';

export async function startFleet() {
  const folder = useFolder();
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  const { machine: database, url, db, account } = await startMigrated();
  // Before its first connection, which goes on with what it found.
  await setRoleDefaults(db);
  const pooled = await startPgBouncer(url);
  const environment = { DATABASE_URL: pooled.url, DATABASE_DIRECT_URL: url, DATA_DIR: dataDir };

  // Each has an address of its own, and all have the same ports, as on machines of their own.
  const [port, opsPort] = [String(await steadyPort()), String(await steadyPort())];
  const nodeAt = (host: string, script: 'start-api' | 'start-worker') => {
    const own = { HOST: host, PORT: port, OPS_PORT: opsPort, TRUST_PROXY: '127.0.0.1', WORKER_CONCURRENCY: '2' };
    return machineOf(script, { ...environment, ...own }, { isUp: () => isReady(opsPort, host) });
  };
  const apis = [nodeAt('127.0.0.2', 'start-api'), nodeAt('127.0.0.3', 'start-api')] as const;
  const workers = [nodeAt('127.0.0.4', 'start-worker'), nodeAt('127.0.0.5', 'start-worker')] as const;
  const processes = [...apis, ...workers];
  await Promise.all(processes.map((machine) => machine.start()));
  const listen = `127.0.0.1:${await steadyPort()}`;
  const nodes = { API_1: `127.0.0.2:${port}`, API_2: `127.0.0.3:${port}`, OPS_PORT: opsPort };
  const balancer = await startHaproxy({ ...nodes, LISTEN: listen }, join(folder, 'balancer'));
  /** All that is not of the service. */
  const around = [database, pooled.machine, balancer.machine];
  return {
    ...{ apis, workers, database, around, machines: processes, db, account, dataDir, environment },
    ...{ server: { url: `http://${listen}`, key: account.key }, nodesUp: balancer.nodesUp },
    /** When every process says that it serves, and the balancer knows it. */
    async ready() {
      await Promise.all([...processes, ...around].map((machine) => machine.up()));
      await until(async () => (await balancer.nodesUp()) === apis.length);
    },
  };
}
