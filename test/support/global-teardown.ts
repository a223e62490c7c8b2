import { rm } from 'node:fs/promises';

export default async function tearDown(): Promise<void> {
  const { server, folder } = globalThis.testPostgres!;
  await server.leave();
  await rm(folder, { recursive: true, force: true });
}
