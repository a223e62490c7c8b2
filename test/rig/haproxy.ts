/** HAProxy, with a configuration that operators are shown. */
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Machine } from './machine.ts';
import type { Place } from './place.ts';

const configurations = join(import.meta.dirname, '../../scripts/deploy');

export interface Haproxy {
  machine: Machine;
  /** How many servers get requests now. */
  serversUp(): Promise<number>;
  /** How often it tried again, the same server or another one. */
  retries(): Promise<number>;
}

interface Options {
  configuration: 'haproxy.cfg';
  port: number;
  /** The variables that name its servers. */
  env: Record<string, string>;
  /** For its socket, not there yet. */
  folder: string;
  /** Whether so many servers are as many as there have to be. */
  isEnough(up: number): boolean;
}

export async function startHaproxy(place: Place, options: Options): Promise<Haproxy> {
  const { configuration, port, env, folder, isEnough } = options;
  await mkdir(folder);
  const socket = join(folder, 'haproxy.sock');
  const serversUp = async () => (await servers(socket)).filter(({ status }) => status === 'UP').length;
  const machine = new Machine(place, {
    command: ['haproxy', '-db', '-f', join(configurations, configuration)],
    env: { ...env, LISTEN: `${place.address}:${port}`, SOCKET: socket },
    ...{ folder, isUp: async () => isEnough(await serversUp()) },
  });
  await machine.start();
  const retries = async () => (await servers(socket)).reduce((sum, { wretr }) => sum + Number(wretr), 0);
  return { machine, serversUp, retries };
}

/** What `show stat` says of servers: a line for each, below one with the names. */
async function servers(path: string): Promise<Record<string, string>[]> {
  const socket = connect(path);
  socket.end('show stat\n');
  const [head = '', ...lines] = (await text(socket)).replace('# ', '').trim().split('\n');
  const names = head.split(',');
  return lines
    .map((line) => Object.fromEntries(line.split(',').map((value, index) => [names[index]!, value])))
    .filter(({ svname }) => !['FRONTEND', 'BACKEND'].includes(svname!));
}
