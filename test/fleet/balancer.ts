/** HAProxy before the API nodes, with the configuration that operators are shown. */
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Machine } from './machine.ts';
import type { Place } from './network.ts';

const configuration = join(import.meta.dirname, '../../scripts/deploy/haproxy.cfg');

export interface Balancer {
  machine: Machine;
  url: string;
  /** How many nodes get requests now. */
  nodesUp(): Promise<number>;
  /** How often it tried again, the same node or the other one. */
  retries(): Promise<number>;
}

/** @param folder for its socket, not there yet */
export async function startBalancer(place: Place, nodes: readonly [Place, Place], folder: string): Promise<Balancer> {
  await mkdir(folder);
  const socket = join(folder, 'haproxy.sock');
  const [api1, api2] = nodes.map(({ address }) => `${address}:8080`);
  const servers = async () => (await statistics(socket)).filter(({ svname }) => svname?.startsWith('api'));
  const nodesUp = async () => (await servers()).filter(({ status }) => status === 'UP').length;
  const machine = new Machine(place, {
    command: ['haproxy', '-db', '-f', configuration],
    env: { API_1: api1!, API_2: api2!, LISTEN: `${place.address}:80`, SOCKET: socket },
    folder,
    isUp: async () => (await nodesUp()) > 0,
  });
  await machine.start();
  const retries = async () => (await servers()).reduce((sum, { wretr }) => sum + Number(wretr), 0);
  return { machine, url: `http://${place.address}`, nodesUp, retries };
}

/** What `show stat` says: a line for each server, below one with the names. */
export async function statistics(path: string): Promise<Record<string, string>[]> {
  const socket = connect(path);
  socket.end('show stat\n');
  const [head = '', ...lines] = (await text(socket)).replace('# ', '').trim().split('\n');
  const names = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((value, index) => [names[index]!, value])));
}
