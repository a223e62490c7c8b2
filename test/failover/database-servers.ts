/** Three PostgreSQL servers that Patroni looks after, and HAProxy that leads to the primary. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startHaproxy } from '../rig/haproxy.ts';
import { addPlace } from '../rig/network.ts';
import { ask } from '../rig/postgres.ts';
import { until } from '../support/until.ts';
import { primaryOf } from './cases.ts';
import { databaseNode, password, superuser } from './database-node.ts';
import type { DatabaseMachines } from '../fleet/fleet.ts';
import type { DatabaseNode } from './database-node.ts';

export interface DatabaseServers extends DatabaseMachines {
  nodes: DatabaseNode[];
  urlOf(database: string): string;
  /** When all of them run, and one of the standbys is synchronous. */
  whole(): Promise<void>;
}

export async function startDatabaseServers(folder: string): Promise<DatabaseServers> {
  await mkdir(folder, { mode: 0o711 });
  const places = [await addPlace('db1', 31), await addPlace('db2', 32), await addPlace('db3', 33)];
  const nodes: DatabaseNode[] = [];
  for (const place of places) nodes.push(await databaseNode(place, places, folder));
  // The first one makes the database, and the others copy it.
  await Promise.all(nodes.map(({ machine }) => machine.start()));

  const place = await addPlace('dbproxy', 30);
  const servers = Object.fromEntries(places.map(({ address }, index) => [`DB_${index + 1}`, `${address}:5432`]));
  const { machine: proxy } = await startHaproxy(place, {
    ...{ configuration: 'haproxy-postgres.cfg', port: 5432, env: servers, folder: join(folder, 'haproxy') },
    // Until it has asked the servers, it takes each of them for the primary.
    isEnough: (up) => up === 1,
  });
  const urlOf = (name: string) => `postgres://${superuser}:${password}@${place.address}:5432/${name}`;
  // At first HAProxy may lead to a standby, which takes no writes. SQLSTATE 42P04: there already.
  const makes = (name: string) =>
    ask(urlOf('postgres'), `create database ${name}`).catch(({ code }: { code?: string }) => code === '42P04');
  for (const name of ['transcription', 'written']) await until(() => makes(name));
  const isWhole = async () => (await primaryOf(nodes))?.hasSynchronousStandby() ?? false;
  const whole = async () => {
    await Promise.all(nodes.map(({ machine }) => machine.up()));
    await until(() => isWhole().catch(() => false));
  };
  await whole();
  const machines = [proxy, ...nodes.map(({ machine }) => machine)];
  return { nodes, urlOf, url: urlOf('transcription'), machines, whole };
}
