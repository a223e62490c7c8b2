import { spawn } from 'node:child_process';

/**
 * The whole environment of PostgreSQL's programs: a PGDATA, PGPORT or LD_LIBRARY_PATH of the caller must not reach
 * them.
 */
export function cleanEnvironment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
}

/** What a program left behind. `output` is stdout and stderr as they came. */
export interface Outcome {
  readonly succeeded: boolean;
  readonly output: string;
}

/** Runs a program to its end, without a shell. A program that can't be started counts as failed. */
export function runProgram(command: readonly string[], workingFolder?: string): Promise<Outcome> {
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env: cleanEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(workingFolder === undefined ? {} : { cwd: workingFolder }),
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ succeeded: false, output: error.message }));
    child.on('close', (code) => resolve({ succeeded: code === 0, output: output.trim() }));
  });
}
