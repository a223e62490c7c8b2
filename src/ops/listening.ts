import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const closeIdleEveryMs = 200;
/**
 * How many connections may wait to be accepted: the most that Linux allows. With Node's 511, some clients of a burst
 * would believe that they are connected while the server knows nothing of them.
 */
const waitingConnections = 4096;

/**
 * @returns the port; a free one when 0 was asked for
 * @throws {Error} the port is taken; the message names the variable to change
 */
export async function listen(server: Server, port: number, host: string, variable: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (error: NodeJS.ErrnoException) => {
    const taken = error.code === 'EADDRINUSE';
    reject(taken ? new Error(`Port ${port} on ${host} is taken. Set ${variable} to another one.`) : error);
  });
  server.listen(port, host, waitingConnections, resolve);
  await promise;
  return (server.address() as AddressInfo).port;
}

/**
 * After `stopping`, every answer is the last one on its connection and says so. The client's next request then goes to
 * another server.
 */
export function closeConnectionsWhen(stopping: AbortSignal, server: Server): void {
  const inFlight = new Set<ServerResponse>();
  const watch = (_req: unknown, res: ServerResponse) => {
    if (stopping.aborted) res.shouldKeepAlive = false;
    inFlight.add(res);
    res.once('close', () => inFlight.delete(res));
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.prependListener(event, watch);
  const last = () => inFlight.forEach((res) => (res.shouldKeepAlive = false));
  stopping.addEventListener('abort', last, { once: true });
}

/** Takes no new connection, lets requests in flight finish, and cuts off what is left after `graceMs`. */
export async function closeGracefully(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Repeated, because connections become idle one by one when their answers end.
  const closing = setInterval(() => server.closeIdleConnections(), closeIdleEveryMs);
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(closing);
  clearTimeout(timer);
}
