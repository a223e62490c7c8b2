import { clusterExists, clusterPaths, makeFolder } from './cluster.ts';
import type { ClusterPaths } from './cluster.ts';
import { tryLock, waitForLock } from './file-lock.ts';
import type { FileLock } from './file-lock.ts';
import { keepRunning } from './keep-running.ts';
import { ensureRunning, readyLimitMs } from './running-server.ts';
import { stopPostmaster } from './stop-postmaster.ts';
import { withNotice } from './until.ts';

/** A PostgreSQL that several processes share. */
export interface EmbeddedPostgres {
  /** `postgres://transcription:<password>@127.0.0.1:<port>/transcription`; the port stays as long as it can be had. */
  readonly url: string;
  /**
   * Starts the server again whenever it dies, until `leave`.
   * @param onMoved told when its old port was taken, so that `url` leads nowhere any more
   */
  keepRunning(onMoved: () => void): void;
  /** Gives up this use of the server; the last user to leave stops it. Idempotent. */
  leave(): Promise<void>;
}

// Longer than whoever holds the lock may rightly take; a holder that dies gives it back at once.
const startLockLimitMs = readyLimitMs + 2 * 60_000;

/**
 * Joins the users of the PostgreSQL below `folder`: makes it where there is none, starts it where it doesn't run, adopts
 * it where it does. Each join counts, within one process too, and needs its own `leave`.
 * @param options.onNotice hears what a person may want to know while waiting
 * @throws when it can't be made or started, with the last lines of the server's log
 */
export async function joinEmbeddedPostgres(options: {
  folder: string;
  onNotice?: (message: string) => void;
}): Promise<EmbeddedPostgres> {
  const paths = clusterPaths(options.folder);
  const notice = options.onNotice ?? ((): void => undefined);
  makeFolder(paths);
  const { url, use } = await alone(paths, notice, async () => {
    const use = await waitForLock(paths.usersLock, 'shared', startLockLimitMs);
    try {
      return { url: await ensureRunning(paths, notice), use };
    } catch (error) {
      await endUse(paths, use);
      throw error;
    }
  });
  let leaving: Promise<void> | undefined;
  let stopKeeping = async (): Promise<void> => undefined;
  return {
    url,
    keepRunning(onMoved) {
      const startAgain = async (): Promise<void> => {
        if ((await alone(paths, notice, () => ensureRunning(paths, notice))) !== url) onMoved();
      };
      stopKeeping = keepRunning(paths, startAgain, notice);
    },
    leave: () => (leaving ??= stopKeeping().then(() => alone(paths, notice, () => endUse(paths, use)))),
  };
}

/** Runs `work` while nobody else joins or leaves. */
async function alone<Result>(
  paths: ClusterPaths,
  notice: (message: string) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  const waiting = `waiting for another process that starts or stops PostgreSQL in ${paths.folder}`;
  const lock = await withNotice(notice, waiting, () => waitForLock(paths.startLock, 'exclusive', startLockLimitMs));
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
    if (clusterExists(paths)) await stopPostmaster(paths);
  } finally {
    nobodyElse.release();
  }
}
