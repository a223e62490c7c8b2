import { readFileSync, rmSync } from 'node:fs';
import { readPassword, roleName } from './cluster.ts';
import type { ClusterPaths } from './cluster.ts';
import type { Access } from './first-connection.ts';
import { killAllOn, worksOn } from './processes.ts';

/** What a running server says about itself in postmaster.pid. The port is missing in the first moments. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number | undefined;
  readonly ready: boolean;
}

/**
 * The server that runs on this cluster, in whatever state. Undefined when none runs, also when its file is still there.
 */
export function runningPostmaster(paths: ClusterPaths): Postmaster | undefined {
  const lines = pidFileLines(paths.postmasterPid);
  const pid = Math.abs(Number(lines[0]));
  if (!Number.isSafeInteger(pid) || pid === 0 || !worksOn(paths.data, pid)) return undefined;
  return { pid, port: Number(lines[3]) || undefined, ready: lines[7]?.trim() === 'ready' };
}

/** How to connect to the server that runs, once it says that it is ready. */
export function accessWhenReady(paths: ClusterPaths): Access | undefined {
  const server = runningPostmaster(paths);
  if (!server?.ready || server.port === undefined) return undefined;
  return { port: server.port, role: roleName, password: readPassword(paths) };
}

function pidFileLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  }
}

/**
 * Prepares a start where no server runs. Processes that outlived their server hold its shared memory. And PostgreSQL
 * respects a postmaster.pid as long as any process, even a zombie, has that number.
 * @returns how many processes had to be killed
 */
export async function clearRemains(paths: ClusterPaths): Promise<number> {
  const killed = await killAllOn(paths.data);
  rmSync(paths.postmasterPid, { force: true });
  return killed;
}
