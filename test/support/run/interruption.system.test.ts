import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../until.ts';
import { useFolder } from '../use-folder.ts';
import { processesOf, removeRemains } from './remains.ts';

const root = join(import.meta.dirname, '../../..');
const folder = useFolder();

/** What is there before the first test begins, and jest's own cache. */
const left = (temporary: string) => readdirSync(temporary).filter((name) => !/^(jest_|node-compile-cache)/.test(name));

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  '%s to jest alone in the middle of a run → no process, no PostgreSQL and no folder is left',
  async (signal) => {
    const temporary = join(folder, signal);
    mkdirSync(temporary, { mode: 0o755 });
    const jest = spawn(
      process.execPath,
      [
        ...[join(root, 'node_modules/jest/bin/jest.js')],
        ...['--testMatch', '**/support/run/interrupted/*.ts', '--maxWorkers=2', '--forceExit=false'],
      ],
      { cwd: root, env: { PATH: process.env.PATH, TMPDIR: temporary }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
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
