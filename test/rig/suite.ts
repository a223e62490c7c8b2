/** The command of a suite that the ordinary run of the tests leaves out. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

export const tell = (line: string): void => void process.stderr.write(`${line}\n`);

/** In the form that `.ci/run` looks for. */
export const sayNotRun = (why: string): void => console.log(`not run: ${why}`);

/** Ends the command of a suite for which something is missing on this machine. */
export function notRun(why: string): never {
  sayNotRun(why);
  process.exit(0);
}

/**
 * Runs the tests below a folder, and what was typed after the command goes to jest. The command ends with its verdict.
 * @param wrapper a program, with its arguments, that becomes the command it is given
 */
export async function runSuite(folder: string, env: Record<string, string> = {}, wrapper: string[] = []) {
  // Jest takes what follows the patterns for one of them.
  const settings = ['--testPathIgnorePatterns=/node_modules/', '--maxWorkers=1', '--testTimeout=600000', folder];
  const command = [
    ...wrapper,
    process.execPath,
    'node_modules/jest/bin/jest.js',
    ...settings,
    ...process.argv.slice(2),
  ];
  const child = spawn(command[0]!, command.slice(1), { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => child.kill(name));
  const [code] = await once(child, 'exit');
  process.exitCode = code === 0 ? 0 : 1;
}
