import { ConfigError } from '../../src/config/config.ts';
import { listenForInterruption } from './interruption.ts';
import { Mistake } from './refusal.ts';
import type { CommandLine } from './terminal.ts';

/** Runs a command as what this process is for: its arguments, its streams, its signals and its exit code. */
export async function runCommand(command: CommandLine): Promise<void> {
  // The reader of the output may stop (`| head`). The command ends in order all the same.
  process.stdout.on('error', () => {});
  process.exitCode = await command({
    argv: process.argv.slice(2),
    env: process.env,
    // Not before it is needed: to open a pipe makes it one that doesn't block, for its other readers, too.
    get stdin() {
      return process.stdin;
    },
    out: process.stdout,
    err: process.stderr,
    listenForInterruption,
  });
}

/**
 * Runs work that starts other processes, and ends with its exit code: 1 when it fails, 2 for a {@link Mistake} or a wrong
 * environment, 130 after ^C, which aborts the signal first.
 *
 * @param told what is shown of an error
 */
export async function runWork(
  work: (signal: AbortSignal) => Promise<number>,
  told = (error: Error) => error.stack ?? error.message,
): Promise<never> {
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());
  try {
    return process.exit(await work(interruption.signal));
  } catch (error) {
    if (interruption.signal.aborted) process.exit(130);
    const isWrongUse = error instanceof Mistake || error instanceof ConfigError;
    process.stderr.write(`${isWrongUse ? error.message : told(error as Error)}\n`);
    process.exit(isWrongUse ? 2 : 1);
  }
}
