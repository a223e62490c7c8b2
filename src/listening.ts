import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * @returns the port, which is a free one when 0 was asked for
 * @throws a sentence that names the variable to change when the port is taken
 */
export async function listen(server: Server, port: number, host: string, variable: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (error: NodeJS.ErrnoException) => {
    const taken = error.code === 'EADDRINUSE';
    reject(taken ? new Error(`Port ${port} on ${host} is taken. Set ${variable} to another one.`) : error);
  });
  server.listen(port, host, resolve);
  await promise;
  return (server.address() as AddressInfo).port;
}

/** Takes no new connection, lets requests in flight finish, and cuts off what is left after `graceMs`. */
export async function closeGracefully(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}
