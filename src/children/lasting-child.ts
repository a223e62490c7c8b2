import { boundedCommand } from './bounded-command.ts';
import { closeOf, killGroup, killedBy, spawnGroup } from './child.ts';
import type { ChildLimits } from './bounded-command.ts';

/** A program that runs until it is killed. It is asked on its standard input and answers on its standard output. */
export interface LastingChild {
  isAlive(): boolean;
  /** Writes to standard input. Text that a child can't take because it is gone is lost; {@link ended} says why. */
  write(text: string): void;
  /** Resolves when it is gone. */
  kill(): Promise<void>;
  /** Resolves with the reason when it is gone, or could not be started. It never rejects. */
  readonly ended: Promise<Error>;
}

export interface LastingChildOptions {
  /** What messages call it. */
  name: string;
  limits: ChildLimits;
  /** Gets standard output as it comes. If it throws, the child is killed and ends with that error. */
  onStdout: (chunk: Buffer) => void;
  /** Gets standard error as it comes. */
  onStderr?: (chunk: Buffer) => void;
}

/**
 * Starts a program below the same limits as `runChild`. It dies with the thread that called this.
 * @param program name looked up in PATH, or an absolute path
 * @throws {ExecutableNotFound} the program, or one that puts limits on it, is not installed
 */
export async function startLastingChild(
  program: string,
  args: readonly string[],
  { name, limits, onStdout, onStderr }: LastingChildOptions,
): Promise<LastingChild> {
  const child = spawnGroup(await boundedCommand(program, args, limits), 'pipe');
  if (onStderr) child.stderr?.on('data', onStderr);
  let failure: Error | undefined;
  const ended = closeOf(child, name).then(
    ({ code, by, stderr }) =>
      failure ??
      (by === null ? new Error(`${name} ended with exit code ${code}: ${stderr.trim()}`) : killedBy(name, by)),
    (error: Error) => failure ?? error,
  );

  // Where file descriptors have run out, the child has neither of these.
  child.stdin?.on('error', () => {});
  child.stdout?.on('data', (chunk: Buffer) => {
    if (failure) return;
    try {
      onStdout(chunk);
    } catch (cause) {
      failure = new Error(`${name}: ${(cause as Error).message}`, { cause });
      killGroup(child);
    }
  });

  return {
    isAlive: () => child.exitCode === null && child.signalCode === null,
    write: (text) => void child.stdin?.write(text),
    async kill() {
      killGroup(child);
      await ended;
    },
    ended,
  };
}
