import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const closeIdleEveryMs = 200;
/** What Linux allows. Beyond Node's 511, a burst of clients would believe to be connected, and the server not know of them. */
const waitingConnections = 4096;

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
  server.listen(port, host, waitingConnections, resolve);
  await promise;
  return (server.address() as AddressInfo).port;
}

/** From `stopping` on every answer is the last on its connection, and says so: the next request goes elsewhere. */
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
  // Again and again: those whose answer had begun already come free one by one.
  const closing = setInterval(() => server.closeIdleConnections(), closeIdleEveryMs);
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(closing);
  clearTimeout(timer);
}
