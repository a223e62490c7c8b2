/**
 * Servers under test, as child processes. They end with the bench, however it ends, and their use of CPU and memory is
 * measured.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../local-service/addresses.ts';
import type { ChildProcess } from 'node:child_process';
import type { Setting } from './bench.ts';

const root = resolve(import.meta.dirname, '../..');
const host = '127.0.0.1';
const startLimitMs = 600_000;
const stopLimitMs = 30_000;
/** One tick of the times in /proc (proc_pid_stat(5)). Linux has had no other value since 2.6. */
const msPerTick = 10;

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
 * @param options.nodeOptions for Node itself, such as `--cpu-prof`
 * @param options.answersOn where it answers when it is ready; `PORT` when absent
 * @param options.byNpm starts the npm script of this name instead, and waits until `/readyz` says that it is ready
 * @throws with the end of its log when it does not start
 */
export async function startProgram(
  setting: Setting,
  options: {
    script: string;
    env: Record<string, string>;
    nodeOptions?: string[];
    answersOn?: 'PORT' | 'OPS_PORT';
    byNpm?: string;
  },
): Promise<Program> {
  const [port, opsPort] = [await freePort(host, 0, 'PORT'), await freePort(host, 0, 'OPS_PORT')];
  const name = options.script.split('/').at(-1)!.replace('.ts', '');
  const logFile = join(setting.folder, `${name}-${port}.log`);
  const log = await open(logFile, 'w');
  const node = [process.execPath, ...(options.nodeOptions ?? []), resolve(root, options.script)];
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

  const url = `http://${host}:${options.answersOn === 'OPS_PORT' ? opsPort : port}`;
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

/** CPU time that a process has used, in ms. */
export function cpuOf(pid: number): number {
  const [user, system] = statOf(pid).slice(11, 13);
  return (Number(user) + Number(system)) * msPerTick;
}

/** The fields after the program's name, which may contain blanks. None for a process that has ended. */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [...'S0'.padEnd(20, '0')];
  }
}

/** Resident memory of a process in bytes: now, and the most it ever was. */
export function memoryOf(pid: number): { now: number; peak: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}
