import { clusterExists, clusterPaths, makeFolder } from './cluster.ts';
import { tryLock, waitForLock } from './file-lock.ts';
import { ensureRunning, readyLimitMs, runningServer, stopServer } from './server.ts';
import type { ClusterPaths } from './cluster.ts';
import type { FileLock } from './file-lock.ts';

/** A PostgreSQL that several processes share. */
export type EmbeddedPostgres = Awaited<ReturnType<typeof joinEmbeddedPostgres>>;

// Longer than any holder of the lock may take. A holder that dies releases it at once.
const startLockLimitMs = readyLimitMs + 2 * 60_000;
const pollIntervalMs = 500;

/**
 * Joins the users of the PostgreSQL below `folder`. Makes it where there is none, and starts it where it does not run.
 * Each join counts, also within one process, and needs its own `leave`.
 * @param options.onNotice receives progress messages for a person
 * @throws when it can't be made or started, with the last lines of the server's log
 */
export async function joinEmbeddedPostgres({
  folder,
  onNotice: notice = () => undefined,
}: {
  folder: string;
  onNotice?: (message: string) => void;
}) {
  const paths = clusterPaths(folder);
  makeFolder(paths);
  const start = () => ensureRunning(paths, notice);
  const { url, use } = await alone(paths, notice, async () => {
    const use = await waitForLock(paths.usersLock, 'shared', startLockLimitMs);
    try {
      return { url: await start(), use };
    } catch (error) {
      await endUse(paths, use);
      throw error;
    }
  });

  let watching: NodeJS.Timeout | undefined;
  let starting: Promise<void> | undefined;
  let leaving: Promise<void> | undefined;
  const leave = async () => {
    clearInterval(watching);
    await starting;
    await alone(paths, notice, () => endUse(paths, use));
  };
  return {
    /**
     * `postgres://transcription:<password>@127.0.0.1:<port>/transcription`. The port stays the same as long as it is
     * free.
     */
    url,
    /**
     * Starts the server again whenever it dies, until `leave`.
     * @param onMoved called when the old port was taken: `url` is wrong from then on
     */
    keepRunning(onMoved: () => void): void {
      watching = setInterval(() => {
        if (starting !== undefined || runningServer(paths) !== undefined) return;
        notice('PostgreSQL has died; starting it again');
        starting = alone(paths, notice, start)
          .then((now) => (now === url ? undefined : onMoved()))
          .catch((error: unknown) => notice(`PostgreSQL could not be started again: ${String(error)}`))
          .finally(() => (starting = undefined));
      }, pollIntervalMs).unref();
    },
    /** Ends this use of the server. The last user stops it. May be called twice. */
    leave: () => (leaving ??= leave()),
  };
}

/** Runs `work` while no other process joins or leaves. */
async function alone<Result>(
  paths: ClusterPaths,
  notice: (message: string) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  const waiting = `waiting for another process that starts or stops PostgreSQL in ${paths.folder}`;
  const timer = setTimeout(notice, 3_000, waiting);
  const lock = await waitForLock(paths.startLock, 'exclusive', startLockLimitMs).finally(() => clearTimeout(timer));
  try {
    return await work();
  } finally {
    lock.release();
  }
}

async function endUse(paths: ClusterPaths, use: FileLock): Promise<void> {
  use.release();
  const nobodyElse = tryLock(paths.usersLock, 'exclusive');
  if (nobodyElse === undefined) return;
  try {
    if (clusterExists(paths)) await stopServer(paths);
  } finally {
    nobodyElse.release();
  }
}
