/** Rounds with a full disk: a small one is mounted for their process tree alone, and goes with it. */
import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runInside, worldFolder } from '../rig/world.ts';
import { smallDisk } from '../support/faults/small-disk.ts';
import type { LanesResult } from './lanes.ts';

/** Many times what the uploads of a round take, and filled within milliseconds. */
const size = '16m';

/** Nothing where no disk may be mounted. */
export async function runDiskRounds(
  rounds: number,
  seed: string,
  interrupted: AbortSignal,
  tell: (line: string) => void,
): Promise<LanesResult | undefined> {
  if (rounds === 0) return { results: [], faults: [] };
  const folder = await worldFolder();
  const world = [...smallDisk(folder, size), ...asOurselves()];
  const [program, ...mounting] = [...world, 'true'];
  if (spawnSync(program!, mounting).status !== 0) {
    await rm(folder, { recursive: true });
    return undefined;
  }
  const scenario = join(import.meta.dirname, 'on-small-disk.ts');
  const argument = { dataDir: folder, rounds, seed };
  return runInside<LanesResult>({ world, scenario, argument, folder }, interrupted, tell).catch((error: unknown) => ({
    ...{ results: [], faults: [`the rounds with a full disk: ${String(error)}`] },
  }));
}

/** Who is no root becomes one to mount; PostgreSQL runs only as somebody else. */
function asOurselves(): string[] {
  const [user, group] = [process.getuid!(), process.getgid!()];
  return user === 0 ? [] : ['unshare', '--user', `--map-user=${user}`, `--map-group=${group}`];
}
