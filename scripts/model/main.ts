/** `npm run model -- …`: the models of RECOGNIZER=sherpa-onnx. */
import { CommanderError } from 'commander';
import { ExecutableNotFound } from '../../src/children/executable.ts';
import { ConfigError } from '../../src/config.ts';
import { NoModel } from '../../src/recognizers/sherpa-onnx/model-files.ts';
import { createProgram } from './program.ts';
import { Refusal } from '../terminal/refusal.ts';

const exitCodes = { failed: 1, wrongUse: 2, interrupted: 130 };

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());
// Whoever reads the output may stop reading (`| head`).
process.stdout.on('error', () => process.exit());

try {
  await createProgram(interruption.signal).parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}

/** @returns the exit code */
function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.wrongUse;
  if (interruption.signal.aborted) {
    process.stderr.write(
      '\nInterrupted. Type the same again: a download goes on where it ended, with --from it begins anew.\n',
    );
    return exitCodes.interrupted;
  }
  const isExplained = [Refusal, ConfigError, ExecutableNotFound, NoModel].some((kind) => error instanceof kind);
  const { message, stack } = error as Error;
  process.stderr.write(`\n${isExplained ? message : `This should not have happened.\n${stack}`}\n`);
  return error instanceof ConfigError ? exitCodes.wrongUse : exitCodes.failed;
}
