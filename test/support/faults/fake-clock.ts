/** Clocks that a test sets: libfaketime stands between a process and the time of the system. Files keep the kernel's time. */
import { globSync } from 'node:fs';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { here, steadyPort } from '../../rig/place.ts';
import { startPostgres } from '../../rig/postgres.ts';
import { atEnd } from '../at-end.ts';

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

/** A PostgreSQL of the test's own that lives by this clock. @returns its URL */
export async function startPostgresBy(clock: FakeClock): Promise<string> {
  const folder = await mkdtemp(join(process.env.TEST_FOLDER!, 'own-'));
  await chmod(folder, 0o711);
  // The clock begins behind the change of user: what root shares of it, nobody else may open.
  const env = Object.entries(clock.env).map(([name, value]) => `${name}=${value}`);
  const [place, port] = [here('PostgreSQL'), await steadyPort()];
  const { machine, url } = await startPostgres(place, join(folder, 'postgres'), port, ['env', ...env]);
  atEnd(() => machine.stop('SIGINT'));
  return url;
}
