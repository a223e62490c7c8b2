/**
 * How many connections are open at once. Where file descriptors end, nothing works any more: no upload could be stored, no
 * ffmpeg started, no database asked. So connections end first.
 */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';

const most = 10_000;
/** For the database, the log, children and what Node itself opens. */
const otherFiles = 256;
const logEveryMs = 60_000;
/** Looking for idle connections goes through all of them, and dropped ones may come by the thousand. */
const closeIdleEveryMs = 100;

export function limitConnections(server: Server, log: Log, metrics: Metrics): void {
  const limit = connectionLimit(openFilesLimit());
  server.maxConnections = limit;
  let loggedAt = -Infinity;
  let closedAt = -Infinity;
  server.on('drop', () => {
    metrics.refusedConnections.inc();
    const now = performance.now();
    if (now - closedAt < closeIdleEveryMs) return;
    closedAt = now;
    // Room for the next: these wait for a request that may never come, and their clients may connect again.
    server.closeIdleConnections();
    if (now - loggedAt < logEveryMs) return;
    loggedAt = now;
    log.warn({ limit }, 'more connections than this process takes: new ones are refused, idle ones closed');
  });
}

/** A connection may be an upload, which has a file open as well. @param openFiles that the process may have */
export function connectionLimit(openFiles: number): number {
  return Math.max(16, Math.min(most, Math.floor((openFiles - otherFiles) / 2)));
}

/** Node has raised it to what the system allows. */
function openFilesLimit(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
