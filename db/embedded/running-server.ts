import { findBinaries } from './binaries.ts';
import { clusterExists, createCluster, removeUnfinished } from './cluster.ts';
import type { ClusterPaths } from './cluster.ts';
import { prepareDatabase } from './first-connection.ts';
import { otherMajorVersion } from './other-major-version.ts';
import { accessWhenReady, clearRemains, runningPostmaster } from './postmaster.ts';
import { isAlive } from './processes.ts';
import { findRunAs } from './run-as.ts';
import { lastLines } from './server-log.ts';
import { startPostmaster } from './start-postmaster.ts';
import { until, withNotice } from './until.ts';

type Notice = (message: string) => void;

/** Recovery after a crash reads all that was written since the last checkpoint. That takes minutes on a slow disk. */
export const readyLimitMs = 10 * 60_000;

const startAttempts = 5;
// The port was taken after we looked, or a server that a killed process had begun to start runs after all.
const worthAnotherAttempt = /Address already in use|lock file "postmaster\.pid" already exists/;

/**
 * Makes sure the server runs and accepts connections, and makes the cluster first where there is none. Only for the
 * holder of the start lock.
 * @param maxConnections where the server has to be started
 * @returns the database's URL
 * @throws when the server can't be started (with the last lines of its log) or isn't ready within `readyLimitMs`
 * @throws {OtherMajorVersion}
 */
export async function ensureRunning(paths: ClusterPaths, notice: Notice, maxConnections?: number): Promise<string> {
  const adopted = await adoptRunning(paths, notice);
  if (adopted !== undefined) return adopted;

  const binaries = await findBinaries();
  const runAs = await findRunAs(paths.folder, paths.data, binaries);
  if (!clusterExists(paths)) {
    notice(`making a database in ${paths.folder}`);
    await removeUnfinished(paths);
    await createCluster(paths, binaries, runAs);
  }
  for (let attempt = 1; ; attempt++) {
    const killed = await clearRemains(paths);
    if (killed > 0) notice(`ended ${killed} PostgreSQL processes that outlived their server`);
    const { pid, logStart } = await startPostmaster(paths, binaries, runAs, maxConnections);
    const url = (await waitUntilReady(paths, pid, notice)) ?? (await adoptRunning(paths, notice));
    if (url !== undefined) return url;
    const reason = lastLines(paths.log, logStart);
    if (attempt === startAttempts || !worthAnotherAttempt.test(reason)) {
      const error = new Error(`PostgreSQL did not start in ${paths.data}; the end of ${paths.log}:\n${reason}`);
      throw (await otherMajorVersion(paths, binaries)) ?? error;
    }
  }
}

async function adoptRunning(paths: ClusterPaths, notice: Notice): Promise<string | undefined> {
  const running = clusterExists(paths) ? runningPostmaster(paths) : undefined;
  return running && (await waitUntilReady(paths, running.pid, notice));
}

/** The URL once the server accepts connections; undefined when it ends before. */
async function waitUntilReady(paths: ClusterPaths, pid: number, notice: Notice): Promise<string | undefined> {
  const answer = await withNotice(
    notice,
    `waiting until PostgreSQL in ${paths.data} is ready (it may be recovering)`,
    () =>
      until(async () => {
        const url = await urlWhenReady(paths);
        if (url !== undefined) return { url };
        return !isAlive(pid) && { url: undefined };
      }, readyLimitMs),
  );
  if (answer) return answer.url;
  throw new Error(`PostgreSQL in ${paths.data} is not ready after ${readyLimitMs / 60_000} minutes, see ${paths.log}`);
}

async function urlWhenReady(paths: ClusterPaths): Promise<string | undefined> {
  const access = accessWhenReady(paths);
  if (access === undefined || !(await prepareDatabase(access))) return undefined;
  return `postgres://${access.role}:${access.password}@127.0.0.1:${access.port}/${access.role}`;
}
