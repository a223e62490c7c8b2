/** The service whose standard output nobody reads: `npm start | program` with a program that hangs. */
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestDatabase } from '../support/service/database.ts';
import { steadyPort } from '../rig/ports.ts';
import { startUnread } from '../support/faults/stalled-output.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '../..');
const start = [process.execPath, 'src/start.ts'];

test('nobody reads the log → requests are answered, and SIGTERM ends it', async () => {
  const { url: databaseUrl, drop } = await createTestDatabase();
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'unread-log-'));
  const [port, opsPort] = [await steadyPort(), await steadyPort()];
  const env = { ...process.env, DATABASE_URL: databaseUrl, DATA_DIR: dataDir, PORT: `${port}`, OPS_PORT: `${opsPort}` };
  // Full before the first line.
  const { child, end } = startUnread('pipe', ['sh', '-c', 'head -c 65536 /dev/zero; exec "$@"', 'sh', ...start], {
    cwd: root,
    env,
  });
  const ended = once(child, 'exit');
  const status = async (at: number, path: string) => (await fetch(`http://127.0.0.1:${at}${path}`)).status;
  try {
    await until(() =>
      status(port, '/openapi.json').then(
        (code) => code === 200,
        () => false,
      ),
    );
    for (let request = 0; request < 20; request += 1) expect(await status(port, '/v1/nowhere')).toBe(404);
    expect(await status(opsPort, '/healthz')).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    end();
    await drop();
  }
});
