/** Three PostgreSQL servers that Patroni looks after, and HAProxy that leads to the primary. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { statistics } from '../fleet/balancer.ts';
import { Machine } from '../fleet/machine.ts';
import { ask } from '../fleet/postgres.ts';
import { addPlace } from '../fleet/network.ts';
import { until } from '../support/until.ts';
import { primaryOf } from './cases.ts';
import { databaseNode, password, superuser } from './database-node.ts';
import type { DatabaseMachines } from '../fleet/fleet.ts';
import type { DatabaseNode } from './database-node.ts';

const configuration = join(import.meta.dirname, '../../scripts/deploy/haproxy-postgres.cfg');

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
  const own = join(folder, 'haproxy');
  await mkdir(own);
  const servers = Object.fromEntries(places.map(({ address }, index) => [`DB_${index + 1}`, `${address}:5432`]));
  const urlOf = (name: string) => `postgres://${superuser}:${password}@${place.address}:5432/${name}`;
  const socket = join(own, 'haproxy.sock');
  const proxy = new Machine(place, {
    command: ['haproxy', '-db', '-f', configuration],
    env: { ...servers, LISTEN: `${place.address}:5432`, SOCKET: socket },
    ...{ folder: own, isUp: () => leadsToOne(socket) },
  });
  await proxy.start();
  for (const name of ['transcription', 'written']) await ask(urlOf('postgres'), `create database ${name}`);
  const isWhole = async () => (await primaryOf(nodes))?.hasSynchronousStandby() ?? false;
  return {
    ...{ nodes, urlOf, url: urlOf('transcription'), machines: [proxy, ...nodes.map(({ machine }) => machine)] },
    async whole() {
      await Promise.all(nodes.map(({ machine }) => machine.up()));
      await until(() => isWhole().catch(() => false));
    },
  };
}

/** Until it has asked the servers, HAProxy takes each of them for the primary. */
async function leadsToOne(socket: string): Promise<boolean> {
  const servers = (await statistics(socket)).filter(({ svname }) => /^db\d$/.test(svname ?? ''));
  return servers.filter(({ status }) => status === 'UP').length === 1;
}
