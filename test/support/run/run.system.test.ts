import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { until } from '../until.ts';
import { useFolder } from '../use-folder.ts';
import { processesOf, removeRemains } from './remains.ts';

const root = join(import.meta.dirname, '../../..');
const folder = useFolder();

function startRun(files: string, temporary: string, ...args: string[]) {
  const preload = ['--import', './test/support/run/worker-data.ts'];
  const command = [
    ...preload,
    join(root, 'node_modules/jest/bin/jest.js'),
    '--testMatch',
    files,
    '--maxWorkers=2',
    ...args,
  ];
  const env = { PATH: process.env.PATH, TMPDIR: temporary };
  return spawn(process.execPath, command, { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** What is there before the first test begins, and jest's own cache. */
const left = (temporary: string) => readdirSync(temporary).filter((name) => !/^(jest_|node-compile-cache)/.test(name));

test.each(['SIGINT', 'SIGKILL'] as const)(
  '%s to jest alone in the middle of a run → no process, no PostgreSQL and no folder is left',
  async (signal) => {
    const temporary = join(folder, signal);
    mkdirSync(temporary, { mode: 0o755 });
    const jest = startRun('**/support/run/interrupted/*.ts', temporary);
    try {
      let said = '';
      jest.stderr.on('data', (chunk) => (said += String(chunk)));
      await until(() => said.includes('the service runs') && said.includes('the processes run'));
      expect(left(temporary)).toHaveLength(1);
      expect(processesOf(temporary).length).toBeGreaterThan(10);

      jest.kill(signal);
      await once(jest, 'exit');
      await until(() => left(temporary).length === 0);
      // The last one is the one that cleared up.
      await until(() => processesOf(temporary).length === 0);
    } finally {
      await removeRemains(temporary);
    }
  },
);

interface Summary {
  testResults: {
    name: string;
    message: string;
    status: string;
    assertionResults: { title: string; status: string; failureMessages: string[] }[];
  }[];
}

test('tests that hang, fail or leave a rejection, a file that does not load → each is told, and the next test runs', async () => {
  const summary = join(folder, 'summary.json');
  const jest = startRun('**/support/run/broken/*.ts', folder, '--testTimeout=500', '--json', `--outputFile=${summary}`);
  jest.stderr.resume();
  expect(await once(jest, 'exit')).toEqual([1, null]);
  const { testResults } = JSON.parse(readFileSync(summary, 'utf8')) as Summary;
  const byName = new Map(testResults.map((file) => [basename(file.name), file]));

  const { assertionResults } = byName.get('tests.ts')!;
  const failures = assertionResults.map(({ title, status, failureMessages }) => [
    title,
    status,
    failureMessages.join(),
  ]);
  expect(failures).toEqual([
    ['hangs', 'failed', expect.stringMatching(/Exceeded timeout of 500 ms. Open: .*TCPServerWrap/)],
    ['fails', 'failed', expect.stringMatching(/run\/broken\/tests\.ts\?\d+:\d+/)],
    ['leaves a rejection', 'failed', expect.stringMatching(/nobody caught this/)],
    ['is good', 'passed', ''],
  ]);
  expect(byName.get('not-loaded.ts')).toMatchObject({
    status: 'failed',
    message: expect.stringMatching(/this file does not load/),
  });
});
