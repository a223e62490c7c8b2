import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';
import { clusterName } from '../../../db/embedded/server.ts';
import { Machine } from '../../rig/machine.ts';
import { ask } from '../../rig/postgres.ts';
import { commandOf, processesAbout, signal } from '../../rig/processes.ts';
import { atEnd } from '../../support/at-end.ts';
import { until } from '../../support/until.ts';

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
  return existsSync(data) ? processesAbout(clusterName(data)) : [];
}

/** The one that has `title` in its command line, such as `checkpointer`. */
export function processTitled(folder: string, title: string): number {
  const found = processesIn(folder).find((pid) => commandOf({ pid }).includes(title));
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
export const killAll = (pids: readonly number[]): void => pids.forEach((pid) => signal(pid, 'SIGKILL'));

/** A process of its own that uses the PostgreSQL in a folder. */
export function startUser(folder: string) {
  const user = new Machine('user', {
    command: [process.execPath, path.join(import.meta.dirname, 'embedded-user.ts'), folder],
    ...{ env: {}, folder: '/', says: 'postgres://', isUp: async () => true },
  });
  atEnd(() => user.kill());
  /** Resolves once it has joined. */
  const url = user.start().then(() => user.lines[0]!);
  url.catch(() => undefined);
  return {
    url,
    pid: () => user.pid,
    /** Lets it leave; resolves when it has ended by itself, silently and with exit code 0. */
    async leave(): Promise<void> {
      expect(await user.stop()).toBe(0);
      expect(user.lines).toEqual([await url]);
    },
    /** It alone: the server is no part of it. */
    kill: () => user.stop('SIGKILL'),
  };
}

/** For afterEach: nothing may be left of what a test started, and whatever is left all the same goes. */
export async function cleanUp(): Promise<void> {
  const folders = made.map((above) => path.join(above, 'postgres'));
  const left = folders.flatMap(processesIn);
  killAll(left);
  await until(() => folders.flatMap(processesIn).length === 0);
  for (const folder of made) rmSync(folder, { recursive: true });
  made = [];
  expect(left).toEqual([]);
}

/** Rows of a connection that asks the server for no setting of its own. */
export const query = (url: string, statement: string) => ask(url, statement, true);
