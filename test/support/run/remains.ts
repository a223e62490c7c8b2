/** What a test run leaves when it is killed: processes that live in its folder, and the folder. */
import { readFileSync, readlinkSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { livingProcesses, signal } from '../../rig/processes.ts';
import type { Process } from '../../rig/processes.ts';

/** PostgreSQL gives its shared memory back when it gets SIGQUIT, and not when it is killed. It has 10 s for that. */
const politeRounds = 100;

/** Ends every process of the run, and removes its folder. */
export async function removeRemains(folder: string): Promise<void> {
  for (let round = 0; ; round += 1) {
    const processes = processesOf(folder);
    if (processes.length === 0) break;
    for (const { pid, name } of processes)
      signal(pid, round < politeRounds && name === 'postgres' ? 'SIGQUIT' : 'SIGKILL');
    await pause(100);
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Living processes whose environment or working folder is in the run's folder, and all that they started. */
function processesOf(folder: string): Process[] {
  const all = new Map(livingProcesses().map((one) => [one.pid, one]));
  const isOurs = (one: Process | undefined): boolean =>
    one !== undefined &&
    one.pid > 1 &&
    one.pid !== process.pid &&
    (livesIn(folder, one) || isOurs(all.get(one.parent)));
  return [...all.values()].filter(isOurs);
}

function livesIn(folder: string, { pid }: Process): boolean {
  try {
    const place = readlinkSync(`/proc/${pid}/cwd`);
    return place.startsWith(folder) || readFileSync(`/proc/${pid}/environ`, 'utf8').includes(folder);
  } catch {
    // It has gone, or belongs to somebody whom we may not look at.
    return false;
  }
}
