import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { projectFolder } from '../architecture/source-files.ts';
import { until } from '../support/until.ts';

export interface ScriptEnd {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningScript {
  /** Resolves once it has written this to standard error; fails when it ends without. */
  says(text: string): Promise<unknown>;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<ScriptEnd>;
}

/** Runs a file of `scripts/` as npm would, in a pipe instead of a terminal. */
export const runScript = (args: string[], env: NodeJS.ProcessEnv): Promise<ScriptEnd> => startScript(args, env).ended;

/** @param program what runs the file, with its own arguments */
export function startScript(
  args: string[],
  env: NodeJS.ProcessEnv,
  program = [process.execPath],
  input = '',
): RunningScript {
  // Compiling is a third of such a short run.
  const own = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: join(projectFolder, 'node_modules/.cache/node') };
  const [command, ...before] = program;
  const child = spawn(command!, [...before, ...args], { cwd: projectFolder, env: { ...own, ...env } });
  // A command that ends without reading what it is given breaks the pipe.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...written }));
  return {
    says: (text) =>
      until(() => {
        if (written.stderr.includes(text)) return true;
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it ended: ${written.stderr}`);
        return false;
      }),
    kill: (signal) => void child.kill(signal),
    ended,
  };
}
