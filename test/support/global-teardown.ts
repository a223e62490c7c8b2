import { once } from 'node:events';
import { rm } from 'node:fs/promises';

export default async function tearDown(): Promise<void> {
  const { server, folder, watchdog } = globalThis.testRun!;
  await server?.leave();
  await rm(folder, { recursive: true, force: true });
  watchdog.stdin!.end('finished');
  await once(watchdog, 'exit');
}
