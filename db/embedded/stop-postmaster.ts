import type { ClusterPaths } from './cluster.ts';
import { acceptsConnections } from './first-connection.ts';
import { accessWhenReady, runningPostmaster } from './postmaster.ts';
import { isAlive, killAllOn, signal } from './processes.ts';
import { until } from './until.ts';

const recoveryLimitMs = 30_000;
const fastShutdownLimitMs = 60_000;
const immediateShutdownLimitMs = 15_000;

/**
 * Stops the server if it runs: clients are disconnected, and everything is written. Only when that fails, it is stopped
 * by force.
 */
export async function stopPostmaster(paths: ClusterPaths): Promise<void> {
  const server = runningPostmaster(paths);
  if (server === undefined) return;
  const ended = (limitMs: number): Promise<true | undefined> => until(() => !isAlive(server.pid), limitMs);

  // PostgreSQL 18 never ends when it is asked for a fast shutdown while it recovers from the crash of a backend.
  if (await until(() => !isAlive(server.pid) || answers(paths), recoveryLimitMs)) {
    signal(server.pid, 'SIGINT');
    if (await ended(fastShutdownLimitMs)) return;
  }
  // Like a crash: nothing that was committed is lost, and the next start recovers it.
  signal(server.pid, 'SIGQUIT');
  if (await ended(immediateShutdownLimitMs)) return;
  await killAllOn(paths.data);
}

async function answers(paths: ClusterPaths): Promise<boolean> {
  const access = accessWhenReady(paths);
  try {
    return access !== undefined && (await acceptsConnections(access));
  } catch {
    // Even a refusal means that the server is not recovering.
    return true;
  }
}
