import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A free port that stays free while the process which uses it is dead: below those that the kernel gives to outgoing
 * connections, and by chance, so that two runs don't want the same.
 */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
