/** Where a program runs: here, or on a machine of its own that `network.ts` makes. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

export interface Place {
  name: string;
  address: string;
  /** What to put in front of a command that is to run there. */
  prefix: string[];
  /** Of all that runs there. */
  pids(): number[];
  /** Takes the cable out: packets are lost both ways, and nobody is told. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** On loopback, with whatever else runs here. */
export function here(name: string): Place {
  const noCable = () => Promise.reject(new Error(`${name} has no cable of its own`));
  return { name, address: '127.0.0.1', prefix: [], pids: () => [], cut: noCable, mend: noCable };
}

/**
 * A free port that stays free while the process which uses it is dead: below those that the kernel gives to outgoing
 * connections, and by chance, so that two runs don't want the same.
 */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

/** Whether somebody listens there. */
export async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}
