import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { FileHandle } from 'node:fs/promises';
import { boundedCommand } from './bounded-command.ts';
import { isRefusedIsolation } from './isolation.ts';
import type { ChildLimits } from './bounded-command.ts';
import type { Isolation } from './isolation.ts';

export interface ChildOptions {
  limits: ChildLimits;
  /** Wall-clock time after which the child is killed. */
  timeLimitMs: number;
  /** Kills the child; `runChild` then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** An open file; without it, standard input is /dev/null. */
  stdin?: FileHandle;
  /** Gets standard output as it comes. If it throws, the child is killed and `runChild` rejects with that error. */
  onStdout?: (chunk: Buffer) => void;
  /** Without it, the best that this machine allows. */
  isolation?: Isolation;
}

/** How the child ended, with the last 4 KiB of its standard error. */
export type ChildEnd = { stderr: string } & (
  { how: 'exited'; code: number } | { how: 'killed'; by: NodeJS.Signals } | { how: 'timed_out' }
);

/** The child could not be started (fork, exec or unshare failed); a missing program is `ExecutableNotFound`. */
export class ChildNotStarted extends Error {
  override readonly name = 'ChildNotStarted';
}

const stderrTailBytes = 4096;

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
  const command = await boundedCommand(program, args, options.limits, options.isolation);
  options.signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    // Its own process group, so that a kill reaches its descendants and a Ctrl-C meant for the service doesn't.
    const child = spawn(command[0]!, command.slice(1), { env: {}, detached: true, cwd: '/', stdio: stdioOf(options) });
    let stderr = Buffer.alloc(0);
    let timedOut = false;
    let failure: { error: unknown } | undefined;

    const fail = (error: unknown): void => {
      failure ??= { error };
      killGroup(child);
    };
    const abort = (): void => fail(options.signal?.reason);
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child);
    }, options.timeLimitMs);
    const settled = (): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', abort);
    };

    options.signal?.addEventListener('abort', abort, { once: true });
    child.on('error', (error) => {
      // Node also reports a failed kill here; the child is then still there and 'close' will come.
      if (child.pid !== undefined) return;
      settled();
      reject(new ChildNotStarted(`${program} could not be started: ${error.message}`, { cause: error }));
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      if (failure || timedOut) return;
      try {
        options.onStdout?.(chunk);
      } catch (error) {
        fail(error);
      }
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = Buffer.concat([stderr, chunk]).subarray(-stderrTailBytes);
    });
    child.on('close', (code, by) => {
      if (child.pid === undefined) return;
      settled();
      const text = stderr.toString('utf8');
      if (failure) reject(failure.error);
      else if (isRefusedIsolation(text))
        reject(new ChildNotStarted(`${program} could not be isolated: ${text.trim()}`));
      else if (timedOut) resolve({ how: 'timed_out', stderr: text });
      else if (by !== null) resolve({ how: 'killed', by, stderr: text });
      else resolve({ how: 'exited', code: code ?? -1, stderr: text });
    });
  });
}

function stdioOf(options: ChildOptions): [number | 'ignore', 'pipe' | 'ignore', 'pipe'] {
  return [options.stdin?.fd ?? 'ignore', options.onStdout ? 'pipe' : 'ignore', 'pipe'];
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: it has just ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
