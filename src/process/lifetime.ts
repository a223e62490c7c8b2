/** A process from its settings to its last line in the log, whatever it does in between. */
import { ConfigError, readConfig } from '../config/config.ts';
import { help } from '../config/variables.ts';
import { createLog } from '../ops/log.ts';
import { StartupError } from '../ops/dependency-error.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../ops/log.ts';
import type { Roles } from './roles.ts';

/** How long an orderly stop may take. Supervisors should wait a little longer. */
const maxStopMs = 25_000;

/** Settings are variables: the only argument is `--help`, and any other one ends the process with 2. */
function answerArguments([first]: string[]): void {
  if (first === undefined) return;
  const asksForHelp = first === '--help' || first === '-h';
  if (asksForHelp) process.stdout.write(help);
  else process.stderr.write(`Unknown argument ${first}. --help shows the variables that the service reads.\n`);
  process.exit(asksForHelp ? 0 : 2);
}

/** The settings of this process. A wrong one ends it with 2 and one message about all of them. */
function settings(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}

/**
 * Runs until SIGTERM or SIGINT, and exits with 0 after an orderly stop, with 1 after a fault.
 *
 * @param start gives an orderly stop, or a {@link StartupError}
 */
async function runUntilSignal(log: Log, start: () => Promise<() => Promise<void>>): Promise<never> {
  try {
    const asked = askedToStop();
    // Also while the process still starts: that takes minutes when another process holds the embedded PostgreSQL.
    void asked.then((signal) => beginStop(signal, log));
    const stop = await start();
    await asked;
    await stop();
    log.info('stopped');
    process.exit(0);
  } catch (error) {
    if (error instanceof StartupError) log.fatal(error.message);
    else log.fatal({ err: error }, Error.isError(error) ? error.message : 'could not start');
    process.exit(1);
  }
}

function beginStop(signal: string, log: Log): void {
  log.info({ signal }, 'stopping');
  setTimeout(() => {
    log.error('could not stop in time');
    process.exit(1);
  }, maxStopMs).unref();
}

/** Resolves at the first signal. Later ones change nothing. */
function askedToStop(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
  });
}

/** Runs until SIGTERM or SIGINT, and exits with 0 after an orderly stop, 1 after a fault, 2 on a wrong configuration or argument. */
export async function runService(roles: Roles): Promise<void> {
  answerArguments(process.argv.slice(2));
  const config = settings();
  const log = createLog(config);
  // What is wrong with the settings is said before everything else is loaded.
  await runUntilSignal(log, async () => (await import('./roles.ts')).startRoles(config, log, roles));
}
