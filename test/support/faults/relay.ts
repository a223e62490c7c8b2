/** A cable to the database that a test can cut and mend. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

export interface Relay {
  /** The database's URL through the relay. */
  url: string;
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** From now on nothing arrives any more, and nobody is told: not even that new connections lead nowhere. */
  swallow(): void;
  /** New connections lead to another server; the old ones stay as they are. */
  leadTo(databaseUrl: string): void;
  /** New connections work again; the old ones stay dead without knowing it. */
  flow(): void;
  close(): Promise<void>;
}

export async function startRelay(databaseUrl: string): Promise<Relay> {
  let target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const swallowed = new WeakSet<Socket>();
  let server: Server | undefined;
  let port = 0;
  let isSwallowing = false;

  const mend = async () => {
    server = createServer((near) => {
      if (isSwallowing) {
        sockets.add(near.on('error', () => near.destroy()).resume());
        return;
      }
      const far = connect(Number(target.port), target.hostname);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(socket);
        socket.pipe(other);
        socket.on('error', () => other.destroy());
        socket.on('close', () => sockets.delete(socket) && !swallowed.has(socket) && other.destroy());
      }
    });
    await new Promise<void>((resolve) => server!.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  const swallow = () => {
    isSwallowing = true;
    for (const socket of sockets) swallowed.add(socket.unpipe().resume());
  };
  const cut = async () => {
    const closed = new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
    for (const socket of sockets) socket.destroy();
    await closed;
    server = undefined;
  };

  await mend();
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  const leadTo = (other: string) => void (target = new URL(other));
  return { url: url.href, cut, mend, swallow, leadTo, flow: () => void (isSwallowing = false), close: cut };
}
