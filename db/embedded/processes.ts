/** Which processes work on a data folder: by their command lines, which everybody may read, also in a container. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { until } from './file-lock.ts';

/** A name for a data folder. It stays when the folder is renamed, and a copy of the folder has another one. */
export function clusterName(dataFolder: string): string {
  const { dev, ino } = statSync(dataFolder);
  return `transcription-${dev.toString(16)}-${ino.toString(16)}`;
}

/** Whether the process is a living part of the PostgreSQL (or initdb) that works on this data folder. */
export function worksOn(dataFolder: string, pid: number): boolean {
  // Empty for a zombie, which has no memory, files or sockets any more.
  const commandLine = read(`/proc/${pid}/cmdline`);
  const name = clusterName(dataFolder);
  if (!commandLine.startsWith(`postgres: ${name}: `) && !commandLine.includes(`cluster_name=${name}\0`)) return false;
  // Nobody else can pretend to be one.
  const user = /^Uid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1];
  return Number(user) === statSync(dataFolder).uid;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export function processesOn(dataFolder: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => worksOn(dataFolder, pid));
}

/** Sends a signal. It is no error when the process is gone already. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Kills all processes that work on this data folder, and waits until they are gone.
 * @returns how many there were
 * @throws when one can't be killed
 */
export async function killAllOn(dataFolder: string): Promise<number> {
  const seen = new Set<number>();
  const gone = await until(() => {
    const left = processesOn(dataFolder);
    for (const pid of left) {
      seen.add(pid);
      signal(pid, 'SIGKILL');
    }
    return left.length === 0;
  }, 30_000);
  if (!gone) throw new Error(`processes ${processesOn(dataFolder).join(', ')} on ${dataFolder} do not end`);
  return seen.size;
}
