/** HTTP on loopback, for what stands in for others' servers. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from './at-end.ts';

export interface Served {
  /** `http://127.0.0.1:<port>` */
  url: string;
  server: Server;
  /** With every connection; after the last test of the file at the latest. */
  close(): Promise<void>;
}

/** @param port a free one where it is left out */
export async function serve(answer: RequestListener, port = 0): Promise<Served> {
  const server = createServer(answer).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections());
  atEnd(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, close };
}

/** Sends a request on to another address. @returns the answer, of which nothing has been read */
export function sendOn(incoming: IncomingMessage, url: string | URL): Promise<IncomingMessage> {
  const { method, headers } = incoming;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  incoming.pipe(request(url, { method: method!, headers, agent: false }, resolve).on('error', reject));
  return promise;
}

/** Gives that answer to who asked. */
export function giveBack(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode!, answer.headers);
  answer.pipe(response);
}
