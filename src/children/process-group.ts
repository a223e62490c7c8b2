import { spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';

const stderrTailBytes = 4096;

/**
 * Starts a command without environment, in a process group of its own: a kill reaches its descendants, and a Ctrl-C that is
 * meant for the service does not.
 */
export function spawnGroup([program, ...args]: [string, ...string[]], stdio: StdioOptions): ChildProcess {
  return spawn(program, args, { env: {}, detached: true, cwd: '/', stdio });
}

/** Sends SIGKILL to a child and its descendants. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: it has just ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Reads the standard error of a child. @returns what gives its last 4 KiB so far */
export function keepStderrTail(child: ChildProcess): () => string {
  let tail = Buffer.alloc(0);
  // Where file descriptors have run out, the child has no standard error.
  child.stderr?.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-stderrTailBytes);
  });
  return () => tail.toString('utf8');
}
