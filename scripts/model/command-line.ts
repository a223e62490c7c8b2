import { CommanderError } from 'commander';
import { ExecutableNotFound } from '../../src/children/bounded-command.ts';
import { ConfigError } from '../../src/config/config.ts';
import { NoModel } from '../../src/recognizers/sherpa-onnx/model-folder.ts';
import { Refusal } from '../terminal/refusal.ts';
import { createProgram } from './program.ts';
import type { Terminal } from '../terminal/terminal.ts';

const exitCodes = { failed: 1, wrongUse: 2, interrupted: 130 };

/** @returns the exit code */
export async function modelCommand(terminal: Terminal): Promise<number> {
  const { interrupted, stopListening } = terminal.listenForInterruption();
  try {
    await createProgram(terminal, interrupted).parseAsync(terminal.argv, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.wrongUse;
    terminal.err.write(`\n${interrupted.aborted ? interruption : explanationOf(error)}\n`);
    if (interrupted.aborted) return exitCodes.interrupted;
    return error instanceof ConfigError ? exitCodes.wrongUse : exitCodes.failed;
  } finally {
    stopListening();
  }
}

const interruption = 'Interrupted. Type the same again: a download goes on where it ended, with --from it begins anew.';

function explanationOf(error: unknown): string {
  const isExplained = [Refusal, ConfigError, ExecutableNotFound, NoModel].some((kind) => error instanceof kind);
  const { message, stack } = error as Error;
  return isExplained ? message : `This should not have happened.\n${stack}`;
}
