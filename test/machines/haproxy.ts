/** HAProxy, with the configuration that operators are shown. */
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Machine } from '../rig/machine.ts';
import { atEnd } from '../support/at-end.ts';

const configuration = join(import.meta.dirname, '../../scripts/deploy/haproxy.cfg');

/**
 * Up as soon as one node is ready.
 * @param env the variables of its configuration, but for `SOCKET`
 * @param folder for its socket, not there yet
 */
export async function startHaproxy(env: Record<string, string>, folder: string) {
  await mkdir(folder);
  const socket = join(folder, 'haproxy.sock');
  const nodesUp = () => countNodesUp(socket);
  const machine = new Machine('HAProxy', {
    command: ['haproxy', '-db', '-f', configuration],
    ...{ env: { ...env, SOCKET: socket }, folder, isUp: async () => (await nodesUp()) > 0 },
  });
  await machine.start();
  atEnd(() => machine.kill());
  return { machine, nodesUp };
}

/** How many nodes `show stat` calls up: a line for each, whose second column is its name and whose 18th is its state. */
async function countNodesUp(path: string): Promise<number> {
  const socket = connect(path);
  socket.end('show stat\n');
  const rows = (await text(socket)).split('\n').map((line) => line.split(','));
  return rows.filter(([, name, ...more]) => /^api\d$/.test(name ?? '') && more[15] === 'UP').length;
}
