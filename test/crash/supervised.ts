/** A process of the service that is started again whenever it ends, as an operator's supervisor would. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { descendantsOf, isStillAlive } from './descendants.ts';
import type { ChildProcess } from 'node:child_process';

export interface Supervised {
  /** Of the one that runs, or ran last. */
  pid(): number;
  /** Whether one runs and has said that it is ready. */
  isReady(): boolean;
  /** SIGKILL, in the same moment; its children have to die with it. */
  kill(): void;
  signal(name: NodeJS.Signals): void;
  /** Its last words in the log, over all starts. */
  lines: string[];
  /** Ends of it that nobody asked for while it was at work, and children that outlived it. */
  faults: string[];
  /** SIGTERM, and no further start. */
  stop(): Promise<void>;
}

const root = join(import.meta.dirname, '../..');
const linesKept = 400;
const startAgainMs = 200;
const childrenDieWithinMs = 3_000;
const running = new Set<ChildProcess>();
const over = new AbortController();

/** @param ready what it logs when it is at work */
export function supervise(script: string, ready: string, env: Record<string, string>): Supervised {
  let child: ChildProcess;
  let isReady = false;
  let isStopping = false;
  const wasKilled = new WeakSet<ChildProcess>();
  const supervised: Supervised = {
    pid: () => child.pid!,
    isReady: () => isReady,
    kill() {
      wasKilled.add(child);
      isReady = false;
      // Stands still while its children are noted, as if it were dead already.
      child.kill('SIGSTOP');
      const children = descendantsOf(child.pid!);
      child.kill('SIGKILL');
      const orphans = () => children.filter(isStillAlive);
      void until(orphans, (left) => left.length === 0, childrenDieWithinMs).catch(() => {
        const named = orphans().map(({ name, pid }) => `${name} (${pid})`);
        supervised.faults.push(`outlived ${script}, which was killed: ${named.join(', ')}`);
      });
    },
    signal: (name) => void child.kill(name),
    lines: [],
    faults: [],
    async stop() {
      isStopping = true;
      child.kill('SIGTERM');
      await ended;
    },
  };

  const keep = (line: string) => {
    isReady ||= line.includes(ready);
    supervised.lines.push(line);
    if (supervised.lines.length > linesKept) supervised.lines.shift();
  };
  const run = async () => {
    // A group of its own: ^C is for the test, which ends it in its own time.
    const options = { cwd: root, env: { PATH: process.env.PATH, ...env }, detached: true } as const;
    child = spawn(process.execPath, [join(root, script)], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    for (const output of [child.stdout!, child.stderr!]) createInterface({ input: output }).on('line', keep);
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    running.delete(child);
    if (isReady && !isStopping && !wasKilled.has(child)) {
      supervised.faults.push(`${script} ended by itself (${signal ?? `exit code ${code}`})`);
    }
    isReady = false;
  };
  const keepRunning = async () => {
    while (!isStopping && !over.signal.aborted) {
      await run();
      await sleep(startAgainMs);
    }
  };
  const ended = keepRunning();
  return supervised;
}

/** Ends all of them for good, without any order. */
export function killSupervised(): void {
  over.abort();
  for (const child of running) child.kill('SIGKILL');
}
