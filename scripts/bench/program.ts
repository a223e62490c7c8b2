/** Servers under test, as child processes. They end with the bench, however it ends. */
import { basename, join } from 'node:path';
import { freePort, startServiceProcess } from '../local-service/service-process.ts';
import type { Setting } from './bench.ts';

const host = '127.0.0.1';

export interface Program {
  readonly pid: number;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a file of the project on a free port (`PORT`, `HOST`), with its output in a file, and waits until it answers.
 *
 * @param options.env added to the environment of this process
 * @param options.byNpm starts the npm script of this name instead, and waits until `/readyz` says that it is ready
 * @throws with the end of its log when it does not start
 */
export async function startProgram(
  { folder, signal, atEnd }: Setting,
  { script, env, byNpm }: { script: string; env: Record<string, string>; byNpm?: string },
): Promise<Program> {
  const [port, opsPort] = [await freePort(host, 0, 'PORT'), await freePort(host, 0, 'OPS_PORT')];
  const url = `http://${host}:${port}`;
  const { pid, stop } = await startServiceProcess({
    command: byNpm === undefined ? [process.execPath, script] : ['npm', 'run', '--silent', byNpm],
    answersAt: byNpm === undefined ? url : `http://${host}:${opsPort}/readyz`,
    byNpm: byNpm !== undefined,
    logFile: join(folder, `${basename(script, '.ts')}-${port}.log`),
    environment: { HOST: host, PORT: String(port), OPS_PORT: String(opsPort), ...env },
    signal,
  });
  atEnd(stop);
  return { pid, url, stop };
}

/** The answering half as `npm run start:api` runs it, with everything on. */
export function startApiProgram(setting: Setting, databaseUrl: string, env: Record<string, string> = {}) {
  return startProgram(setting, { script: 'src/start-api.ts', env: { ...serviceEnv(setting, databaseUrl), ...env } });
}

/** What an operator would set, for `src/start*.ts`. */
export function serviceEnv({ folder }: Setting, databaseUrl: string): Record<string, string> {
  const dataDir = join(folder, 'data');
  // As the npm scripts set it. A process that need not strip types starts with 20 MB less.
  const NODE_COMPILE_CACHE = 'node_modules/.cache/node';
  return {
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'info',
    NODE_COMPILE_CACHE,
  };
}
