/** Servers under test, as child processes. They end with the bench, however it ends. */
import { spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../local-service/service-process.ts';
import type { ChildProcess } from 'node:child_process';
import type { Setting } from './bench.ts';

const root = resolve(import.meta.dirname, '../..');
const host = '127.0.0.1';
const startLimitMs = 600_000;
const stopLimitMs = 30_000;

export interface Program {
  readonly pid: number;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Everything it wrote. */
  readonly logFile: string;
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
  setting: Setting,
  options: {
    script: string;
    env: Record<string, string>;
    byNpm?: string;
  },
): Promise<Program> {
  const [port, opsPort] = [await freePort(host, 0, 'PORT'), await freePort(host, 0, 'OPS_PORT')];
  const name = options.script.split('/').at(-1)!.replace('.ts', '');
  const logFile = join(setting.folder, `${name}-${port}.log`);
  const log = await open(logFile, 'w');
  const node = [process.execPath, resolve(root, options.script)];
  const command = options.byNpm === undefined ? node : ['npm', 'run', '--silent', options.byNpm];
  // In a process group of its own, so that ^C reaches only the bench, which then ends it.
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', '--', ...command], {
    cwd: root,
    env: { ...process.env, HOST: host, PORT: String(port), OPS_PORT: String(opsPort), ...options.env },
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  await log.close();
  let hasEnded = false;
  const ended = new Promise<void>((done) => {
    for (const event of ['exit', 'error']) child.once(event, () => done());
  }).then(() => void (hasEnded = true));
  const stop = async () => {
    const signal = (name: NodeJS.Signals) => sendTo(child, options.byNpm, name);
    signal('SIGTERM');
    const killing = setTimeout(() => signal('SIGKILL'), stopLimitMs);
    await ended;
    // npm ends before what it runs.
    while (options.byNpm !== undefined && isGroupAlive(child.pid!)) await delay(10);
    clearTimeout(killing);
  };
  setting.atEnd(stop);

  const url = `http://${host}:${port}`;
  for (const deadline = Date.now() + startLimitMs; Date.now() < deadline && !hasEnded;) {
    if (await (options.byNpm === undefined ? answers(url) : isReady(`http://${host}:${opsPort}`)))
      return { pid: child.pid!, url, logFile, stop };
    await delay(options.byNpm === undefined ? 50 : 5, undefined, { signal: setting.signal });
  }
  const lines = (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(-8);
  throw new Error(`${options.script} did not start:\n${lines.join('\n')}`);
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

const isReady = (opsUrl: string): Promise<boolean> =>
  fetch(`${opsUrl}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );

/** npm hands no signal on; what it runs is in its process group. */
function sendTo(child: ChildProcess, byNpm: string | undefined, signal: NodeJS.Signals): void {
  if (byNpm === undefined) child.kill(signal);
  else if (isGroupAlive(child.pid!)) process.kill(-child.pid!, signal);
}

function isGroupAlive(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
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
