import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/**
 * Makes sure that a port can be used before anything is started on it.
 * @returns the port, or a free one for 0
 * @throws a sentence that says which variable to set when it is taken
 */
export async function freePort(host: string, port: number, variable: 'PORT' | 'OPS_PORT'): Promise<number> {
  const probe = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  probe.once('error', (error: NodeJS.ErrnoException) => reject(explained(error, host, port, variable)));
  probe.listen(port, host, () => {
    const { port: usable } = probe.address() as AddressInfo;
    probe.close(() => resolve(usable));
  });
  return promise;
}

function explained(error: NodeJS.ErrnoException, host: string, port: number, variable: string): Error {
  if (error.code === 'EADDRNOTAVAIL') return new Error(`HOST=${host} is no address of this machine.`);
  if (error.code === 'EACCES') return new Error(`Port ${port} is for root only. Set ${variable} to one above 1023.`);
  if (error.code !== 'EADDRINUSE') return error;
  return new Error(
    `Port ${port} on ${host} is taken, perhaps by this service in another terminal.\nStop that, or type ${variable}=${port + 1} before the command.`,
  );
}

/** The address to connect to, for an address that a server listens on. */
export function connectable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
