import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/**
 * Runs tests that the ordinary run leaves out.
 * @returns whether all of them passed
 */
export async function runTests(args: readonly string[], env: Record<string, string>): Promise<boolean> {
  const child = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  return code === 0;
}
