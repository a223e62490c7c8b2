import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';
import { clusterName } from '../../../db/embedded/server.ts';
import { until } from '../../support/until.ts';
import { killUsers } from './user-process.ts';

let made: string[] = [];
/** For all files of this process: it goes with the run's folder. */
let finishedCluster: string | undefined;

/** A folder for a cluster, in a folder of mode 0700, with a space and a letter beyond ASCII in its path. */
export function newFolder(): string {
  const above = mkdtempSync(path.join(os.tmpdir(), 'embedded pöstgres '));
  made.push(above);
  return path.join(above, 'postgres');
}

/** Like newFolder, with a cluster that was started and stopped once: a copy, since initdb takes its time. */
export async function newFolderWithCluster(): Promise<string> {
  if (finishedCluster === undefined) {
    const folder = newFolder();
    made.pop();
    await (await joinEmbeddedPostgres({ folder })).leave();
    finishedCluster = folder;
  }
  const folder = newFolder();
  execFileSync('cp', ['--archive', finishedCluster, folder]);
  return folder;
}

/** Living processes of the cluster in `folder`, as root in a container can tell them, too. */
export function processesIn(folder: string): number[] {
  const data = path.join(folder, 'data');
  const mark = existsSync(data) ? clusterName(data) : '';
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => mark !== '' && commandLine(pid).includes(mark));
}

/** Empty for a process that is gone or a zombie. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** The one that has `title` in its command line, such as `checkpointer`. */
export function processTitled(folder: string, title: string): number {
  const found = processesIn(folder).find((pid) => commandLine(pid).includes(title));
  if (found === undefined) throw new Error(`no ${title} in ${folder}`);
  return found;
}

export function postmasterPidFile(folder: string): string {
  return path.join(folder, 'data', 'postmaster.pid');
}

export function recordedPid(folder: string): number {
  return Number(readFileSync(postmasterPidFile(folder), 'utf8').split('\n')[0]);
}

/** The value of a line of /proc/PID/status, or undefined when there is no such process. */
export function processStatus(pid: number, line: string): string | undefined {
  try {
    return new RegExp(`^${line}:\\s+(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

/** Kills them without any order; some end with others before it is their turn. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** For afterEach: nothing may be left of what a test started, and whatever is left all the same goes. */
export async function cleanUp(): Promise<void> {
  await killUsers();
  const folders = made.map((above) => path.join(above, 'postgres'));
  const left = folders.flatMap(processesIn);
  killAll(left);
  await until(() => folders.flatMap(processesIn).length === 0);
  for (const folder of made) rmSync(folder, { recursive: true });
  made = [];
  expect(left).toEqual([]);
}

/** Runs one statement on a connection of its own, and returns its rows. */
export async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}
