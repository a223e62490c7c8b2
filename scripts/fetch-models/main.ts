/** Before `npm start`: installs the models that the configured worker needs, unless they are there. */
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { installLackingModels } from '../model/sources.ts';
import { listenForInterruption } from '../terminal/interruption.ts';
import { showProgressOn } from '../terminal/show-progress.ts';
import { Refusal } from '../terminal/refusal.ts';

// The service itself answers its arguments, such as --help.
if (process.argv.length > 2) process.exit(0);

const { interrupted: signal } = listenForInterruption();

try {
  const { env } = process;
  await installLackingModels(readConfig(env), { env, signal, progress: showProgressOn(process.stderr) });
  process.exit(0);
} catch (error) {
  // The service itself says what is wrong in its environment.
  if (error instanceof ConfigError) process.exit(0);
  if (signal.aborted) process.exit(130);
  process.stderr.write(`\n${error instanceof Refusal ? error.message : (error as Error).stack}\n`);
  process.exit(1);
}
