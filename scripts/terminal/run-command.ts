import { listenForInterruption } from './interruption.ts';
import type { CommandLine } from './terminal.ts';

/** Runs a command as what this process is for: its arguments, its streams, its signals and its exit code. */
export async function runCommand(command: CommandLine): Promise<void> {
  // Whoever reads the output may stop reading (`| head`). The command ends in order all the same.
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
