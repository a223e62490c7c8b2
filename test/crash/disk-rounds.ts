/** Rounds with a full disk: a small one is mounted for their process tree alone, and goes with it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { smallDisk } from '../support/faults/small-disk.ts';
import type { RoundResult } from './round.ts';

export interface DiskRounds {
  results: RoundResult[];
  /** Whether a disk may be mounted here. */
  canRun: boolean;
  /** What kept rounds from going on. */
  faults: string[];
}

/** Many times what the uploads of a round take, and filled within milliseconds. */
const size = '16m';

/** None at all where no disk may be mounted. */
export async function runDiskRounds(rounds: number, seed: string, signal: AbortSignal): Promise<DiskRounds> {
  if (rounds === 0) return { canRun: true, results: [], faults: [] };
  const folder = await mkdtemp(join(tmpdir(), 'transcription-disk-'));
  try {
    await chmod(folder, 0o711);
    const [program, ...mounting] = [...smallDisk(folder, size), ...asOurselves()] as [string, ...string[]];
    if (spawnSync(program, [...mounting, 'true']).status !== 0) return { canRun: false, results: [], faults: [] };
    const script = join(import.meta.dirname, 'on-small-disk.ts');
    const args = [...mounting, process.execPath, script, folder, String(rounds), seed];
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const end = () => child.kill('SIGTERM');
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    if (code !== 0)
      return { canRun: true, results: [], faults: [`the rounds with a full disk ended with exit code ${code}`] };
    return { canRun: true, ...(JSON.parse(output) as Pick<DiskRounds, 'results' | 'faults'>) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Who is no root becomes one to mount; PostgreSQL runs only as somebody else. */
function asOurselves(): string[] {
  const [user, group] = [process.getuid!(), process.getgid!()];
  return user === 0 ? [] : ['unshare', '--user', `--map-user=${user}`, `--map-group=${group}`];
}
