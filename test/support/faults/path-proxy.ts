/** A proxy that serves a service below a path of its own. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from '../at-end.ts';

export interface PathProxy {
  /** For PUBLIC_URL. */
  url: string;
  /** Where the service is. */
  target: string;
  /** Longer bodies get a page of HTML, as nginx answers them. */
  mostBytes: number;
}

export async function startPathProxy(path = '/speech'): Promise<PathProxy> {
  const server = createServer((req, res) => {
    if (!req.url!.startsWith(`${path}/`)) return res.writeHead(404).end('another service');
    if (Number(req.headers['content-length'] ?? 0) > proxy.mostBytes)
      return res.writeHead(413, { 'Content-Type': 'text/html' }).end('<h1>413 Request Entity Too Large</h1>');
    const { method, headers } = req;
    const forwarded = request(`${proxy.target}${req.url!.slice(path.length)}`, { method, headers }, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(res);
    });
    forwarded.on('error', () => res.destroy());
    return req.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const proxy: PathProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    ...{ target: '', mostBytes: Infinity },
  };
  return proxy;
}
