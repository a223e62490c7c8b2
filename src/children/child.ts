import { boundedCommand, isRefusedIsolation } from './bounded-command.ts';
import { DependencyError } from '../ops/dependency-error.ts';
import { spawn } from 'node:child_process';
import type { ChildLimits, Isolation } from './bounded-command.ts';
import type { ChildProcess, StdioOptions } from 'node:child_process';

export type OnOutput = (chunk: Buffer) => void | Promise<void>;

export interface ChildOptions {
  limits: ChildLimits;
  /** Wall-clock time after which the child is killed. */
  timeLimitMs: number;
  /** Kills the child; `runChild` then rejects with the signal's reason. */
  signal?: AbortSignal;
  /**
   * Gets standard output as it comes, and no more of it before its promise resolves. If it throws or rejects, the child is
   * killed and `runChild` rejects with that error.
   */
  onStdout?: OnOutput;
  onStderr?: (chunk: Buffer) => void;
  /** Without it, the best that this machine allows. */
  isolation?: Isolation;
}

/** How the child ended, with the last 4 KiB of its standard error. */
export type ChildEnd = { stderr: string } & (
  { how: 'exited'; code: number } | { how: 'killed'; by: NodeJS.Signals } | { how: 'timed_out' }
);

/** The child could not be started (fork, exec or unshare failed); a missing program is `ExecutableNotFound`. */
export class ChildNotStarted extends DependencyError {
  override readonly name = 'ChildNotStarted';
}

/**
 * The error for a child that a signal killed. The service sends SIGKILL only for a timeout or an abort, and these are
 * told otherwise. So SIGKILL came from a kernel without memory or from a person. Any other signal is a crash of the
 * program.
 */
export function killedBy(program: string, by: NodeJS.Signals): Error {
  const message = `${program} was killed by ${by}`;
  return by === 'SIGKILL' ? new DependencyError(`${message}: out of memory?`) : new Error(message);
}

/**
 * Runs one program without environment and (where the machine allows it) network, below hard limits, and waits for its
 * end.
 * It dies with the thread that called this, even when that is killed with SIGKILL (prctl(2), PR_SET_PDEATHSIG).
 * @param program name looked up in PATH, or an absolute path
 * @throws {ExecutableNotFound} the program, or one that puts limits on it, is not installed
 * @throws {ChildNotStarted}
 * @throws the abort reason of `options.signal`
 */
export async function runChild(program: string, args: readonly string[], options: ChildOptions): Promise<ChildEnd> {
  const { signal, onStdout } = options;
  const command = await boundedCommand(program, args, options.limits, options.isolation);
  signal?.throwIfAborted();
  const child = spawnGroup(command, ['ignore', onStdout ? 'pipe' : 'ignore', 'pipe']);
  if (options.onStderr) child.stderr?.on('data', options.onStderr);
  const limit = AbortSignal.timeout(options.timeLimitMs);
  const stop = signal ? AbortSignal.any([limit, signal]) : limit;
  const kill = () => killGroup(child);
  stop.addEventListener('abort', kill);
  const readAll = async (): Promise<void> => {
    if (!child.stdout || !onStdout) return;
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) if (!stop.aborted) await onStdout(chunk);
  };
  try {
    const reading = readAll().catch((error: unknown) => {
      kill();
      return { error };
    });
    const [{ code, by, stderr }, failure] = await Promise.all([closeOf(child, program), reading]);
    signal?.throwIfAborted();
    if (failure) throw failure.error;
    if (limit.aborted) return { how: 'timed_out', stderr };
    return by === null ? { how: 'exited', code: code ?? -1, stderr } : { how: 'killed', by, stderr };
  } finally {
    stop.removeEventListener('abort', kill);
  }
}

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

/** Children that ended, as did all who held their output. Their process ids may be reused. */
const over = new WeakSet<ChildProcess>();

/** Sends SIGKILL to a child and its descendants, unless it has ended. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || over.has(child)) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // It has just ended by itself (ESRCH), and its id may have been given to a group of another user (EPERM).
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/**
 * How a child ended, once all who held its output have ended, with the last 4 KiB of its standard error.
 * @param name what messages call it
 * @throws {ChildNotStarted}
 */
export function closeOf(
  child: ChildProcess,
  name: string,
): Promise<{ code: number | null; by: NodeJS.Signals | null; stderr: string }> {
  let tail = Buffer.alloc(0);
  // Where file descriptors have run out, the child has no standard error.
  child.stderr?.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-stderrTailBytes);
  });
  return new Promise((resolve, reject) => {
    child.on('error', (cause) => {
      // Node also reports a failed kill here. The child still runs then, and 'close' will come.
      if (child.pid !== undefined) return;
      reject(new ChildNotStarted(`${name} could not be started: ${cause.message}`, { cause }));
    });
    child.once('close', (code, by) => {
      const stderr = tail.toString('utf8');
      if (isRefusedIsolation(stderr)) reject(new ChildNotStarted(`${name} could not be isolated: ${stderr.trim()}`));
      else resolve({ code, by, stderr });
    });
  });
}
