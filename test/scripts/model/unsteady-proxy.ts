import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface UnsteadyProxy {
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** The method and path of every request it was sent. */
  requests: string[];
  close(): void;
}

/** What the first request meets: its answer is lost on the way back, or it meets a service that is about to stop. */
type Trouble = 'answer lost' | 'unavailable';

export async function startUnsteadyProxy(serviceUrl: string, trouble: Trouble): Promise<UnsteadyProxy> {
  const requests: string[] = [];
  const server = createServer((req, res) => {
    const isFirst = requests.push(`${req.method} ${req.url}`) === 1;
    if (isFirst && trouble === 'unavailable') {
      const headers = { 'Content-Type': 'application/problem+json', 'Retry-After': '1', Connection: 'close' };
      const problem = { type: 'about:blank', title: 'Unavailable', status: 503, code: 'unavailable' };
      // After the upload: closing before it is read would make a broken connection of the answer, every now and then.
      return req.resume().on('end', () => res.writeHead(503, headers).end(JSON.stringify(problem)));
    }
    const { method, url, headers } = req;
    const onward = request(new URL(url!, serviceUrl), { method, headers, agent: false } as object, (answer) => {
      if (isFirst) return answer.resume().on('end', () => req.socket.destroy());
      res.writeHead(answer.statusCode!, answer.headers);
      return answer.pipe(res);
    });
    onward.on('error', () => req.socket.destroy());
    return req.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
