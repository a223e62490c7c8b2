import { runningPostmaster } from './postmaster.ts';
import type { ClusterPaths } from './cluster.ts';

const pollIntervalMs = 500;

/**
 * Watches the server and starts it again when it has died.
 * @param start makes sure that it runs and answers at its URL
 * @returns ends this, after a start that is under way
 */
export function keepRunning(
  paths: ClusterPaths,
  start: () => Promise<void>,
  notice: (message: string) => void,
): () => Promise<void> {
  let starting: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (starting !== undefined || runningPostmaster(paths) !== undefined) return;
    notice('PostgreSQL has died; starting it again');
    starting = start()
      .catch((error: unknown) => notice(`PostgreSQL could not be started again: ${String(error)}`))
      .finally(() => (starting = undefined));
  }, pollIntervalMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await starting;
  };
}
