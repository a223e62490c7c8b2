import { readdirSync, readFileSync, statSync } from 'node:fs';
import { until } from './until.ts';

const programs = new Set(['postgres', 'initdb', 'setpriv']);

/** Whether the process exists and is no zombie. A zombie has no memory, files or sockets any more. */
export function isAlive(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything, parentheses too.
  const state = stat?.slice(stat.lastIndexOf(')') + 2)[0];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** A name for a data folder. It stays when the folder is renamed, and a copy of the folder has another one. */
export function clusterName(dataFolder: string): string {
  const { dev, ino } = statSync(dataFolder);
  return `transcription-${dev.toString(16)}-${ino.toString(16)}`;
}

/** Whether the process is a living part of the PostgreSQL (or initdb) that works on this data folder. */
export function worksOn(dataFolder: string, pid: number): boolean {
  if (!programs.has(read(`/proc/${pid}/comm`)?.trim() ?? '') || !isAlive(pid)) return false;
  const data = statSync(dataFolder);
  try {
    const cwd = statSync(`/proc/${pid}/cwd`);
    return cwd.dev === data.dev && cwd.ino === data.ino;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return false;
    // In a container, root may not look into another user's processes, but everybody may read their command lines.
    return carriesName(pid, clusterName(dataFolder)) && ownerOf(pid) === data.uid;
  }
}

function carriesName(pid: number, name: string): boolean {
  const commandLine = read(`/proc/${pid}/cmdline`) ?? '';
  return commandLine.startsWith(`postgres: ${name}: `) || commandLine.includes(`cluster_name=${name}\0`);
}

function ownerOf(pid: number): number | undefined {
  const uid = /^Uid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return uid === undefined ? undefined : Number(uid);
}

/** All living processes that work on this data folder. */
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

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
