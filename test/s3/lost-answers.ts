/** A way to an object store on which the first answer that says "stored" gets lost. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LossyWay {
  url: string;
  lost(): number;
  close(): Promise<void>;
}

export async function answersGetLost(url: string): Promise<LossyWay> {
  let lost = 0;
  const server = createServer((req, res) => {
    const { method, headers, url: path } = req;
    const isWhole = method === 'PUT' ? !path!.includes('partNumber=') : path!.includes('?uploadId=');
    const forwarded = request(new URL(path!, url), { method, headers }, (answer) => {
      if (isWhole && method !== 'DELETE' && lost === 0) {
        lost += 1;
        answer.resume().once('end', () => res.destroy());
        return;
      }
      res.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(res);
    });
    req.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lost: () => lost,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
