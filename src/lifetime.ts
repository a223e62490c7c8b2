/** A process from its settings to its last line in the log, whatever it does in between. */
import { ConfigError, readConfig } from './config/config.ts';
import { help } from './config/help.ts';
import type { Config } from './config/config.ts';
import type { Log } from './log.ts';

/** How long an orderly stop may take. Supervisors are told to wait a little longer. */
export const maxStopMs = 25_000;

/** The message says all that an operator needs. A stack would only hide it. */
export class PlainFault extends Error {
  override readonly name = 'PlainFault';
}

/** Settings are variables: the only argument is `--help`, and any other one ends the process with 2. */
export function answerArguments([first]: string[]): void {
  if (first === undefined) return;
  const asksForHelp = first === '--help' || first === '-h';
  if (asksForHelp) process.stdout.write(help);
  else process.stderr.write(`Unknown argument ${first}. --help shows the variables that the service reads.\n`);
  process.exit(asksForHelp ? 0 : 2);
}

/** The settings of this process. A wrong one ends it with 2 and one message about all of them. */
export function settings(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}

interface Lifetime {
  /** @returns an orderly stop @throws {PlainFault} where the message says all that an operator needs */
  start: () => Promise<() => Promise<void>>;
  stopLimitMs?: number;
  /** Asks to stop, as a signal does. It resolves to the reason. */
  orWhen?: Promise<string>;
}

/** Runs until SIGTERM or SIGINT, and exits with 0 after an orderly stop, with 1 after a fault. */
export async function live(log: Log, { start, stopLimitMs = maxStopMs, orWhen }: Lifetime): Promise<never> {
  try {
    const asked = Promise.race([askedToStop(), ...(orWhen ? [orWhen] : [])]);
    // Also while the process still starts: that takes minutes when another process holds the embedded PostgreSQL.
    void asked.then((signal) => beginStop(signal, log, stopLimitMs));
    const stop = await start();
    await asked;
    await stop();
    log.info('stopped');
    process.exit(0);
  } catch (error) {
    if (error instanceof PlainFault) log.fatal(error.message);
    else log.fatal({ err: error }, Error.isError(error) ? error.message : 'could not start');
    process.exit(1);
  }
}

function beginStop(signal: string, log: Log, stopLimitMs: number): void {
  log.info({ signal }, 'stopping');
  setTimeout(() => {
    log.error('could not stop in time');
    process.exit(1);
  }, stopLimitMs).unref();
}

/** Resolves at the first signal. Later ones change nothing. */
function askedToStop(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
  });
}
