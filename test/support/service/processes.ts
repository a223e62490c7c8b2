/** The service as an operator runs it: a process of its own, with children. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../until.ts';
import { databaseEnvironment } from './pooler.ts';
import type { ChildProcess } from 'node:child_process';

const root = join(import.meta.dirname, '../../..');
const running = new Set<ChildProcess>();

export interface ServiceProcess {
  pid: number;
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** Every line that it logged. */
  lines: string[];
  /** Its end: exit code, or the signal that killed it. */
  ended: Promise<number | NodeJS.Signals>;
}

/**
 * Starts `src/<script>.ts` in a process group of its own and waits until it answers, or until it logs `ready`; the URL is
 * of use only where the API answers.
 *
 * @param wrapper a program, with its arguments, that becomes the command it is given
 */
export async function startProcess(
  script: 'start' | 'start-api' | 'start-worker',
  env: Record<string, string>,
  ready = script === 'start-worker' ? 'worker takes jobs' : 'api answers',
  wrapper: string[] = [],
): Promise<ServiceProcess> {
  // As `npm start` does: compiling is half of a start.
  const fromNpm = { NODE_COMPILE_CACHE: join(process.env.TEST_FOLDER!, 'compiled') };
  const database = env['DATABASE_URL'] === undefined ? {} : databaseEnvironment(env['DATABASE_URL']);
  const [program, ...args] = [...wrapper, process.execPath, join(root, 'src', `${script}.ts`)];
  const child = spawn(program!, args, {
    cwd: root,
    env: { ...fromNpm, PATH: process.env.PATH, PORT: '0', OPS_PORT: '0', MIN_FREE_DISK: '0', ...env, ...database },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.add(child);
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\n');
      rest = parts.pop()!;
      lines.push(...parts);
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return (code ?? signal) as number | NodeJS.Signals;
  });
  const line = () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it ended:\n${lines.join('\n')}`);
    return lines.find((text) => text.includes(ready));
  };
  const started = await until(line, (text) => text !== undefined);
  const { port } = JSON.parse(started!) as { port?: number };
  return { pid: child.pid!, url: `http://127.0.0.1:${port}`, lines, ended };
}

/** Living processes that mention `text` on their command lines. */
export function processesAbout(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Living children of a process that mention `text` on their command lines. */
export function childrenOf(pid: number, text: string): number[] {
  const isChild = (child: number) => {
    try {
      return (
        readFileSync(`/proc/${child}/stat`, 'utf8')
          .replace(/^.*\) /, '')
          .split(' ')[1] === String(pid)
      );
    } catch {
      return false;
    }
  };
  return processesAbout(text).filter(isChild);
}

/** For `afterAll`: ends what a failed test left behind. */
export function killLeftovers(): void {
  for (const child of running) if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
}
