/** What a test run leaves when it is killed: processes that live in its folder, and the folder. */
import { readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** PostgreSQL gives its shared memory back when it gets SIGQUIT, and not when it is killed. It has 10 s for that. */
const politeRounds = 100;

/** Ends every process of the run, and removes its folder. */
export async function removeRemains(folder: string): Promise<void> {
  for (let round = 0; ; round += 1) {
    const pids = processesOf(folder);
    if (pids.length === 0) break;
    for (const pid of pids) end(pid, round < politeRounds && nameOf(pid) === 'postgres' ? 'SIGQUIT' : 'SIGKILL');
    await pause(100);
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Living processes whose environment or working folder is in the run's folder, and all that they started. */
export function processesOf(folder: string): number[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const parents = new Map(all.map((pid) => [pid, parentOf(pid)]));
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && pid !== process.pid && (livesIn(folder, pid) || isOurs(parents.get(pid)));
  return all.filter((pid) => parents.get(pid) !== undefined && isOurs(pid));
}

function livesIn(folder: string, pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder) || read(pid, 'environ').includes(folder);
  } catch {
    // It has gone, or belongs to somebody whom we may not look at.
    return false;
  }
}

/** Undefined for processes that have ended, also when nobody has asked for their exit code yet. */
function parentOf(pid: number): number | undefined {
  try {
    const [state, parent] = read(pid, 'stat')
      .replace(/^.*\) /s, '')
      .split(' ');
    return state === 'Z' || state === 'X' ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}

function nameOf(pid: number): string {
  try {
    return read(pid, 'comm').trim();
  } catch {
    return '';
  }
}

const read = (pid: number, file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');

function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
