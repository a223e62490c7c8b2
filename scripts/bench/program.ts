/** Servers under test, as child processes. They end with the bench, however it ends. */
import { basename, join } from 'node:path';
import { portsFor, startServiceProcess } from '../local-service/service-process.ts';
import type { Setting } from './bench.ts';

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
  const { url, opsUrl, env: ports } = await portsFor('127.0.0.1');
  const { pid, stop } = await startServiceProcess({
    command: byNpm === undefined ? [process.execPath, script] : ['npm', 'run', '--silent', byNpm],
    answersAt: byNpm === undefined ? url : `${opsUrl}/readyz`,
    byNpm: byNpm !== undefined,
    logFile: join(folder, `${basename(script, '.ts')}-${ports.PORT}.log`),
    environment: { ...ports, ...env },
    signal,
  });
  atEnd(stop);
  return { pid, url, stop };
}

/** The answering half as `npm run start:api` runs it, with everything on. */
export const startApiProgram = (setting: Setting, databaseUrl: string): Promise<Program> =>
  startProgram(setting, {
    ...{ script: 'src/start-api.ts', env: { ...serviceEnv(setting, databaseUrl), NODE_ENV: 'production' } },
  });

/** What an operator would set, for `src/start*.ts`. */
export function serviceEnv({ folder }: Setting, databaseUrl: string): Record<string, string> {
  return {
    ...{ DATABASE_URL: databaseUrl, DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'info' },
    // As the npm scripts set it. A process that need not strip types starts with 20 MB less.
    NODE_COMPILE_CACHE: 'node_modules/.cache/node',
  };
}
