import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { useFolder } from '../use-folder.ts';

interface Summary {
  success: boolean;
  testResults: {
    name: string;
    message: string;
    status: string;
    assertionResults: { title: string; status: string; failureMessages: string[] }[];
  }[];
}

const root = join(import.meta.dirname, '../../..');
const folder = useFolder();

async function runBroken(): Promise<Summary> {
  const [jest, summary] = [join(root, 'node_modules/jest/bin/jest.js'), join(folder, 'summary.json')];
  const args = ['--testMatch', '**/support/run/broken/*.ts', '--testTimeout=500', '--json', `--outputFile=${summary}`];
  const env = { PATH: process.env.PATH, TMPDIR: folder };
  const child = spawn(process.execPath, [jest, ...args, '--maxWorkers=2'], { cwd: root, env, stdio: 'ignore' });
  expect(await once(child, 'exit')).toEqual([1, null]);
  return JSON.parse(readFileSync(summary, 'utf8')) as Summary;
}

test('tests that hang, fail or leave a rejection, a file that does not load → each is told, and the next test runs', async () => {
  const { success, testResults } = await runBroken();
  expect(success).toBe(false);
  const byName = new Map(testResults.map((file) => [basename(file.name), file]));

  const { assertionResults } = byName.get('tests.ts')!;
  const outcomes = assertionResults.map(({ title, status }) => [title, status]);
  expect(outcomes).toEqual([
    ['hangs', 'failed'],
    ['fails', 'failed'],
    ['leaves a rejection', 'failed'],
    ['is good', 'passed'],
  ]);
  const [hangs, fails, rejection] = assertionResults.map(({ failureMessages }) => failureMessages.join('\n'));
  expect(hangs).toMatch(/Exceeded timeout of 500 ms/);
  expect(hangs).toMatch(/Open when its time was over: .*TCPServerWrap/);
  expect(fails).toMatch(/run\/broken\/tests\.ts:\d+/);
  expect(rejection).toMatch(/nobody caught this/);

  const broken = byName.get('not-loaded.ts')!;
  expect(broken.status).toBe('failed');
  expect(broken.message).toMatch(/this file does not load/);
});
