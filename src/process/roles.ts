/** One role of the service or both, in this process. */
import { createServer } from 'node:http';
import { Registry } from 'prom-client';
import { DatabaseUnsupported, isDatabaseUnavailable } from '../../db/connection/database-errors.ts';
import { startApi } from './api-server.ts';
import { findLimiters, ExecutableNotFound, findExecutable } from '../children/bounded-command.ts';
import { DatabaseUnavailable, whyNoDatabase } from '../../db/connection/explained-faults.ts';
import { createContext } from './context.ts';
import { StartupError } from '../ops/dependency-error.ts';
import { closeGracefully, listen } from '../ops/listening.ts';
import { LanguageNotKnown, RecognizerError } from '../recognizers/recognizer.ts';
import { AudioStoreLost } from '../files/audio-store.ts';
import { withTimeout } from '../concurrency/with-timeout.ts';
import type { ServerResponse } from 'node:http';
import type { Config } from '../config/config.ts';
import type { Log } from '../ops/log.ts';
import type { Recognizer } from '../recognizers/recognizer.ts';
import type { AppContext } from '../sessions/app-context.ts';

export interface Roles {
  api: boolean;
  worker: boolean;
}

/**
 * @returns an orderly stop
 * @throws {StartupError} where the message says all that an operator needs
 */
export function startRoles(config: Config, log: Log, roles: Roles): Promise<() => Promise<void>> {
  return begin(config, log, roles).catch((error: unknown) => {
    if (isSaidWhole(error)) throw new StartupError(error.message);
    // While a role starts, it is unknown which URL its question went by.
    if (isDatabaseUnavailable(error) && !(error instanceof DatabaseUnavailable))
      throw new Error('the database can not be reached', { cause: error });
    throw error;
  });
}

/** Whether the message says all that an operator needs. */
const isSaidWhole = (error: unknown): error is Error =>
  [RecognizerError, ExecutableNotFound, DatabaseUnsupported].some((kind) => error instanceof kind);

async function begin(config: Config, log: Log, roles: Roles): Promise<() => Promise<void>> {
  await findExecutable('ffmpeg');
  await findLimiters();
  const recognizer = roles.worker ? await checkedRecognizer(config) : undefined;
  const context = await createContext(config, log, roles.worker ? 'worker' : 'api');
  let notReadyReason: () => string | undefined = () => 'starting';
  const notice = () => recognizer?.notice?.();
  try {
    const readiness = () => readinessOf(context, () => notReadyReason(), notice);
    // Operators may ask before anything else is ready.
    const hide = await showOnPort(readiness, context.metrics.registry, config, log);
    // The worker starts last. When the port is taken, no job has begun and lost an attempt.
    const api = roles.api ? await startApi(context, context.databaseUrl) : undefined;
    const noticed = notice();
    if (noticed !== undefined) log.warn(noticed);
    const worker = recognizer && (await (await import('../worker/worker.ts')).startWorker(context, recognizer));
    notReadyReason = () => worker?.notReadyReason();
    return async () => {
      notReadyReason = () => 'stopping';
      await Promise.all([api?.stop(), worker?.stop()]);
      await hide();
      await context.close();
    };
  } catch (error) {
    await context.close();
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

const pingTimeoutMs = 2_000;

/**
 * Whether a process does its work, for `/readyz`.
 * @param notReadyReason a sentence while a role of this process starts, stops or waits for the operator
 * @returns sentences about what keeps it from its work, and about what keeps it from nothing but the next job; each is left
 *   out where nothing does
 */
export async function readinessOf(
  { db, audioStore, storageProbe }: Pick<AppContext, 'db' | 'audioStore' | 'storageProbe'>,
  notReadyReason: () => string | undefined,
  notice: () => string | undefined,
) {
  // Asked again at the end: the process may have begun to stop while the database was asked.
  const problem =
    notReadyReason() ??
    (await withTimeout(whyNoDatabase(db), pingTimeoutMs, 'the database does not answer')) ??
    (await withTimeout(whyNoStore(audioStore), pingTimeoutMs, undefined)) ??
    notReadyReason();
  const noUploads = problem === undefined ? await storageProbe.whyNot(pingTimeoutMs) : undefined;
  const notices = [notice(), noUploads && `uploads can not be stored: ${noUploads}`].filter(isSaid);
  const noticed = notices.length > 0 ? notices.join('; ') : undefined;
  return { ...(problem !== undefined && { problem }), ...(noticed !== undefined && { notice: noticed }) };
}

const isSaid = (sentence: string | undefined): sentence is string => sentence !== undefined;

/** Transcripts can be read while the object store is away. */
function whyNoStore(audioStore: AppContext['audioStore']): Promise<string | undefined> {
  return audioStore.open().then(
    () => undefined,
    (error: unknown) => (error instanceof AudioStoreLost ? error.message : undefined),
  );
}

const closeGraceMs = 1_000;

/**
 * `/healthz`, `/readyz` and `/metrics`, on a port of their own, for operators and not for clients.
 * @returns closes the port @throws when it is taken
 */
async function showOnPort(
  readiness: () => ReturnType<typeof readinessOf>,
  registry: Registry,
  { opsPort, host }: Config,
  log: Log,
): Promise<() => Promise<void>> {
  const answers: Record<string, (res: ServerResponse) => Promise<void>> = {
    // A process that answers at all is alive.
    '/healthz': async (res) => send(res, 200, 'text/plain', 'ok\n'),
    '/readyz': async (res) => {
      const { problem, notice } = await readiness();
      const ready = notice === undefined ? 'ready' : `ready, but ${notice}`;
      send(res, problem === undefined ? 200 : 503, 'text/plain', `${problem ?? ready}\n`);
    },
    '/metrics': async (res) => send(res, 200, Registry.PROMETHEUS_CONTENT_TYPE, await registry.metrics()),
  };

  const server = createServer((req, res) => {
    const answer = answers[(req.url ?? '').split('?')[0]!];
    if (answer === undefined) return send(res, 404, 'text/plain', 'There are /healthz, /readyz and /metrics here.\n');
    answer(res).catch((error: unknown) => {
      log.warn({ err: error }, 'ops endpoint failed');
      send(res, 503, 'text/plain', 'unavailable\n');
    });
  });
  await listen(server, opsPort, host, 'OPS_PORT');
  return () => closeGracefully(server, closeGraceMs);
}

function send(res: ServerResponse, status: number, contentType: string, body: string): void {
  const headers = { 'Content-Type': contentType, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  res.writeHead(status, headers).end(body);
}
