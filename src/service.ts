/** A process of the service: one half or both, from its configuration to its last line in the log. */
import { isDatabaseAway } from '../db/database.ts';
import { startApi } from './api/server.ts';
import { findLimiters } from './children/bounded-command.ts';
import { ExecutableNotFound, findExecutable } from './children/executable.ts';
import { ConfigError, readConfig } from './config.ts';
import { layFoundation } from './foundation.ts';
import { closeGracefully, listen } from './listening.ts';
import { createLog } from './log.ts';
import { isVersionFault } from './migration.ts';
import { createOpsServer } from './ops.ts';
import { LanguageNotKnown, RecognizerError } from './recognizers/recognizer.ts';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import type { Recognizer } from './recognizers/recognizer.ts';

interface Halves {
  api: boolean;
  worker: boolean;
}

const maxStopMs = 25_000;

/** Runs until SIGTERM or SIGINT, and exits with 0 after an orderly stop, 1 after a fault, 2 on a wrong configuration. */
export async function runService(halves: Halves): Promise<void> {
  let config: Config;
  try {
    config = readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
  const log = createLog(config);
  try {
    const asked = askedToStop();
    // Also while the process still starts: that takes minutes when another process holds the embedded PostgreSQL.
    void asked.then((signal) => beginStop(signal, log));
    const stop = await start(config, log, halves);
    await asked;
    await stop();
    log.info('stopped');
    process.exit(0);
  } catch (error) {
    if (error instanceof RecognizerError || error instanceof ExecutableNotFound || isVersionFault(error))
      log.fatal(error.message);
    else if (isDatabaseAway(error)) log.fatal({ err: error }, 'the database of DATABASE_URL can not be reached');
    else log.fatal({ err: error }, Error.isError(error) ? error.message : 'could not start');
    process.exit(1);
  }
}

function beginStop(signal: NodeJS.Signals, log: Log): void {
  log.info({ signal }, 'stopping');
  setTimeout(() => {
    log.error('could not stop in time');
    process.exit(1);
  }, maxStopMs).unref();
}

/** Resolves at the first signal. Later signals only get a line in the log that asks for patience. */
function askedToStop(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
  });
}

async function start(config: Config, log: Log, halves: Halves): Promise<() => Promise<void>> {
  await findExecutable('ffmpeg');
  await findLimiters();
  const recognizer = halves.worker ? await checkedRecognizer(config) : undefined;
  const foundation = await layFoundation(config, log, halves.worker ? 'worker' : 'api');
  let whyNotServing: () => string | undefined = () => 'starting';
  const notice = () => recognizer?.notice?.();
  const ops = createOpsServer(foundation, () => whyNotServing(), notice);
  try {
    await listen(ops, config.opsPort, config.host, 'OPS_PORT');
    // The worker starts last. When the port is taken, no job has begun and lost an attempt.
    const api = halves.api ? await startApi(foundation, foundation.databaseUrl) : undefined;
    const noticed = notice();
    if (noticed !== undefined) log.warn(noticed);
    const worker = recognizer && (await (await import('./worker/worker.ts')).startWorker(foundation, recognizer));
    whyNotServing = () => worker?.whyNotReady();
    return async () => {
      whyNotServing = () => 'stopping';
      await Promise.all([api?.stop(), worker?.stop()]);
      await closeGracefully(ops, 1_000);
      await foundation.close();
    };
  } catch (error) {
    await foundation.close();
    throw error;
  }
}

/** Only workers load this: a recognizer and its packages would take 30 MB of memory in an API process. */
async function checkedRecognizer(config: Config): Promise<Recognizer> {
  const { selectRecognizer } = await import('./recognizers/select.ts');
  const recognizer = await selectRecognizer(config);
  await recognizer.check(config.recognizerLanguage).catch((error: unknown) => {
    if (!(error instanceof LanguageNotKnown)) throw error;
    throw new RecognizerError(error.code, `RECOGNIZER_LANGUAGE: ${error.message}`, { retryable: false });
  });
  return recognizer;
}
