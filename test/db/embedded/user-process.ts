import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const script = path.join(import.meta.dirname, 'embedded-user.ts');
const running = new Set<ChildProcessWithoutNullStreams>();

/** A separate process that uses the PostgreSQL in a folder. */
export interface UserProcess {
  readonly pid: number;
  /** Resolves once it has joined. */
  readonly url: Promise<string>;
  /** Lets it leave; resolves when it has ended by itself, silently and with exit code 0. */
  leave(): Promise<void>;
  kill(): Promise<void>;
}

export function startUser(folder: string): UserProcess {
  const child = spawn(process.execPath, [script, folder]);
  running.add(child);
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const closed = once(child, 'close').then(([code, signal]: unknown[]) => {
    running.delete(child);
    return { code, signal };
  });
  const url = Promise.race([
    once(child.stdout, 'data').then(([chunk]: unknown[]) => String(chunk).trim()),
    closed.then(({ code, signal }) => {
      throw new Error(`user process ended with ${code ?? signal}: ${complaints}`);
    }),
  ]);
  url.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    url,
    async leave() {
      child.stdin.end();
      const { code } = await closed;
      expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
    },
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

/** For afterEach: ends those that a failed test left. */
export async function killUsers(): Promise<void> {
  await Promise.all(
    [...running].map(async (child) => {
      child.kill('SIGKILL');
      await once(child, 'close');
    }),
  );
}
