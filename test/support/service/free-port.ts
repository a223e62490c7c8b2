import { createServer } from 'node:http';
import { listen } from '../../../src/ops/listening.ts';

/** A port that was free a moment ago, for a process that has to be told one. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, 0, '127.0.0.1', 'PORT');
  await new Promise((resolve) => server.close(resolve));
  return port;
}
