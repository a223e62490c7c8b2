import { negativeDurationsLast } from './durations.ts';
import { exitCodeOf, messageOf } from './exit.ts';
import { createProgram } from './program.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** @returns the exit code */
export async function adminCommand(terminal: Terminal): Promise<number> {
  let exitCode = 0;
  try {
    const program = createProgram(terminal, (code) => (exitCode = code));
    await program.parseAsync(negativeDurationsLast(terminal.argv), { from: 'user' });
    return exitCode;
  } catch (error) {
    const message = messageOf(error);
    if (message !== undefined) terminal.err.write(`${message}\n`);
    return exitCodeOf(error);
  }
}
