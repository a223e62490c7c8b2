import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { createTestDatabase } from '../support/database.ts';
import { killLeftovers, startProcess } from '../support/processes.ts';

const root = join(import.meta.dirname, '../..');
afterAll(killLeftovers);

test('three wrong variables → one message that names all three, exit code 2', () => {
  const env = { PATH: process.env.PATH, PORT: 'abc', DATABASE_URL: 'nonsense', RECOGNIZER: 'foo' };
  const { status, stderr, stdout } = spawnSync(process.execPath, ['src/start.ts'], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  expect(status).toBe(2);
  for (const fault of ['PORT=abc', 'DATABASE_URL=nonsense', 'RECOGNIZER=foo']) expect(stderr).toContain(fault);
  expect(stdout).toBe('');
});

test('API and worker in processes of their own, SIGTERM to both → exit code 0', async () => {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'halves-'));
  const env = { DATABASE_URL: database.url, DATA_DIR: dataDir };
  const halves = await Promise.all([startProcess('start-api', env), startProcess('start-worker', env)]);
  for (const { pid } of halves) process.kill(pid, 'SIGTERM');
  expect(await Promise.all(halves.map(({ ended }) => ended))).toEqual([0, 0]);
  await database.drop();
});
