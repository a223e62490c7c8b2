import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { boundedCommand } from './bounded-command.ts';
import { isRefusedIsolation } from './isolation.ts';
import { keepStderrTail, killGroup, spawnGroup } from './process-group.ts';
import { OperatorFault } from '../ops/operator-fault.ts';
import type { ChildLimits } from './bounded-command.ts';
import type { Isolation } from './isolation.ts';

export type OnOutput = (chunk: Buffer) => void | Promise<void>;

export interface ChildOptions {
  limits: ChildLimits;
  /** Wall-clock time after which the child is killed. */
  timeLimitMs: number;
  /** Kills the child; `runChild` then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** An open file; without it, standard input is /dev/null. */
  stdin?: FileHandle;
  /**
   * Gets standard output as it comes, and no more of it before its promise resolves. If it throws or rejects, the child is
   * killed and `runChild` rejects with that error.
   */
  onStdout?: OnOutput;
  /** Gets standard error as it comes. */
  onStderr?: (chunk: Buffer) => void;
  /** Without it, the best that this machine allows. */
  isolation?: Isolation;
}

/** How the child ended, with the last 4 KiB of its standard error. */
export type ChildEnd = { stderr: string } & (
  { how: 'exited'; code: number } | { how: 'killed'; by: NodeJS.Signals } | { how: 'timed_out' }
);

/** The child could not be started (fork, exec or unshare failed); a missing program is `ExecutableNotFound`. */
export class ChildNotStarted extends OperatorFault {
  override readonly name = 'ChildNotStarted';
}

/**
 * The error for a child that a signal killed. The service sends SIGKILL only for a timeout or an abort, and these are
 * told otherwise. So SIGKILL came from a kernel without memory or from a person. Any other signal is a crash of the
 * program.
 */
export function killedBy(program: string, by: NodeJS.Signals): Error {
  const message = `${program} was killed by ${by}`;
  return by === 'SIGKILL' ? new OperatorFault(`${message}: out of memory?`) : new Error(message);
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
  const command = await boundedCommand(program, args, options.limits, options.isolation);
  options.signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawnGroup(command, stdioOf(options));
    const stderr = keepStderrTail(child);
    if (options.onStderr) child.stderr?.on('data', options.onStderr);
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
      // Node also reports a failed kill here. The child still runs then, and 'close' will come.
      if (child.pid !== undefined) return;
      settled();
      reject(new ChildNotStarted(`${program} could not be started: ${error.message}`, { cause: error }));
    });
    const readAll = async (output: Readable | null | undefined, onOutput: OnOutput | undefined): Promise<void> => {
      if (!output || !onOutput) return;
      for await (const chunk of output as AsyncIterable<Buffer>) if (!failure && !timedOut) await onOutput(chunk);
    };
    const read = readAll(child.stdout, options.onStdout).catch(fail);
    const over = (code: number | null, by: NodeJS.Signals | null): void => {
      settled();
      const text = stderr();
      if (failure) reject(failure.error);
      else if (isRefusedIsolation(text))
        reject(new ChildNotStarted(`${program} could not be isolated: ${text.trim()}`));
      else if (timedOut) resolve({ how: 'timed_out', stderr: text });
      else if (by !== null) resolve({ how: 'killed', by, stderr: text });
      else resolve({ how: 'exited', code: code ?? -1, stderr: text });
    };
    child.on('close', (code, by) => {
      if (child.pid !== undefined) void read.then(() => over(code, by));
    });
  });
}

function stdioOf({ stdin, onStdout }: ChildOptions): (number | 'ignore' | 'pipe')[] {
  return [stdin?.fd ?? 'ignore', onStdout ? 'pipe' : 'ignore', 'pipe'];
}
