import { spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';

const stderrTailBytes = 4096;

/**
 * Starts a command without environment, in a process group of its own: a kill reaches its descendants, and a Ctrl-C that is
 * meant for the service does not.
 */
export function spawnGroup([program, ...args]: [string, ...string[]], stdio: StdioOptions): ChildProcess {
  const child = spawn(program, args, { env: {}, detached: true, cwd: '/', stdio });
  child.once('close', () => over.add(child));
  return child;
}

/** Children that ended, as did all who held their output. Their process ids may be somebody else's by now. */
const over = new WeakSet<ChildProcess>();

/** Sends SIGKILL to a child and its descendants; to nobody when it is over. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || over.has(child)) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // It has just ended by itself (ESRCH), and its id may have been given to a group of another user (EPERM).
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
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
