/** One role of the service or both, in this process. */
import { isDatabaseAway } from '../../db/connection/database-errors.ts';
import { PoolerUnfit } from '../../db/connection/pooler.ts';
import { startApi } from './api-server.ts';
import { findLimiters } from '../children/bounded-command.ts';
import { ExecutableNotFound, findExecutable } from '../children/executable.ts';
import { DatabaseAway, LoginRefused } from '../../db/connection/explained-faults.ts';
import { composeService } from './composition.ts';
import { PlainFault } from './lifetime.ts';
import { isVersionFault } from './migration.ts';
import { showOnPort } from '../ops/server.ts';
import { readinessOf } from './readiness.ts';
import { LanguageNotKnown, RecognizerError } from '../recognizers/recognizer.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../ops/log.ts';
import type { Recognizer } from '../recognizers/recognizer.ts';

export interface Roles {
  api: boolean;
  worker: boolean;
}

/**
 * @returns an orderly stop
 * @throws {PlainFault} where the message says all that an operator needs
 */
export function startRoles(config: Config, log: Log, roles: Roles): Promise<() => Promise<void>> {
  return begin(config, log, roles).catch((error: unknown) => {
    if (isSaidWhole(error)) throw new PlainFault(error.message);
    // While a role starts, nobody knows which URL its question went by.
    if (isDatabaseAway(error) && !(error instanceof DatabaseAway))
      throw new Error('the database can not be reached', { cause: error });
    throw error;
  });
}

/** Whether the message says all that an operator needs. */
const isSaidWhole = (error: unknown): error is Error =>
  [RecognizerError, ExecutableNotFound, PoolerUnfit, LoginRefused].some((kind) => error instanceof kind) ||
  isVersionFault(error);

async function begin(config: Config, log: Log, roles: Roles): Promise<() => Promise<void>> {
  await findExecutable('ffmpeg');
  await findLimiters();
  const recognizer = roles.worker ? await checkedRecognizer(config) : undefined;
  const foundation = await composeService(config, log, roles.worker ? 'worker' : 'api');
  let notReadyReason: () => string | undefined = () => 'starting';
  const notice = () => recognizer?.notice?.();
  try {
    const readiness = () => readinessOf(foundation, () => notReadyReason(), notice);
    // Operators may ask before anything else is ready.
    const hide = await showOnPort({ readiness, registry: foundation.metrics.registry }, config, log);
    // The worker starts last. When the port is taken, no job has begun and lost an attempt.
    const api = roles.api ? await startApi(foundation, foundation.databaseUrl) : undefined;
    const noticed = notice();
    if (noticed !== undefined) log.warn(noticed);
    const worker = recognizer && (await (await import('../worker/worker.ts')).startWorker(foundation, recognizer));
    notReadyReason = () => worker?.notReadyReason();
    return async () => {
      notReadyReason = () => 'stopping';
      await Promise.all([api?.stop(), worker?.stop()]);
      await hide();
      await foundation.close();
    };
  } catch (error) {
    await foundation.close();
    throw error;
  }
}

/** Only workers load this: a recognizer and its packages would take 30 MB of memory in an API process. */
async function checkedRecognizer(config: Config): Promise<Recognizer> {
  const { selectRecognizer } = await import('../recognizers/select.ts');
  const recognizer = await selectRecognizer(config);
  await recognizer.check(config.recognizerLanguage).catch((error: unknown) => {
    if (!(error instanceof LanguageNotKnown)) throw error;
    throw new RecognizerError(error.code, `RECOGNIZER_LANGUAGE: ${error.message}`, { retryable: false });
  });
  return recognizer;
}
