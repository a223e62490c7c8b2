/** Clocks that a test sets: libfaketime stands between a process and the time of the system. Files keep the kernel's time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBinaries } from '../../../db/embedded/binaries.ts';
import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';
import { findRunAs } from '../../../db/embedded/run-as.ts';
import { cleanEnvironment } from '../../../db/embedded/run-program.ts';
import { until } from '../until.ts';

export interface FakeClock {
  /** For whoever shall live by this clock. */
  env: Record<string, string>;
  /** Whole hours ahead of the real time, or behind it; at once, for those that run already. */
  set(hours: number): Promise<void>;
}

export async function fakeClock(): Promise<FakeClock> {
  const [library] = globSync('/usr/lib/*/faketime/libfaketime.so.1');
  if (library === undefined) throw new Error('Install it: apt-get install libfaketime');
  const folder = await mkdtemp(join(process.env.TEST_FOLDER!, 'clock-'));
  await chmod(folder, 0o755);
  const file = join(folder, 'offset');
  const set = (hours: number) => writeFile(file, `${hours < 0 ? '' : '+'}${hours}h\n`, { mode: 0o644 });
  await set(0);
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    // As on a real machine: only the time of day jumps.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
  return { env, set };
}

/** A PostgreSQL of the test's own that lives by this clock. */
export async function startPostgresBy(clock: FakeClock): Promise<{ url: string; stop(): Promise<void> }> {
  const above = await mkdtemp(join(process.env.TEST_FOLDER!, 'own-'));
  await chmod(above, 0o711);
  const folder = join(above, 'postgres');
  const made = await joinEmbeddedPostgres({ folder });
  const { url } = made;
  await made.leave();
  const data = join(folder, 'data');
  // The server noted its command line when it was started, and quoted all of it but its own path.
  const noted = (await readFile(join(data, 'postmaster.opts'), 'utf8')).trim();
  const command = noted.replace(/^(.*?) "/, `'$1' "`);
  // As the product starts it, also below folders that only root may enter.
  const { prefix } = await findRunAs(folder, data, await findBinaries());
  // The clock begins behind the change of user: what root shares of it, nobody else may open.
  const env = Object.entries(clock.env).map(([name, value]) => `${name}=${value}`);
  const [program, ...args] = [...prefix, 'env', ...env, 'sh', '-c', `exec ${command}`];
  const child = spawn(program!, args, { env: cleanEnvironment(), cwd: data, stdio: 'ignore' });
  const ended = once(child, 'exit');
  await until(async () => /^ready/m.test(await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')));
  return {
    url,
    async stop() {
      child.kill('SIGINT');
      await ended;
    },
  };
}
