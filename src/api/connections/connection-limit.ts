/**
 * Limits how many connections are open at once. Without file descriptors nothing works: no upload can be stored, no
 * ffmpeg started and no database asked. So connections are refused before descriptors run out.
 */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';

const most = 10_000;
/** File descriptors for the database, the log, children and Node itself. */
const otherFiles = 256;
const logEveryMs = 60_000;
/**
 * How often idle connections are looked for at most. That goes through all connections, and thousands may be dropped at
 * once.
 */
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
    // Makes room for the next: an idle connection may never get a request, and its client may connect again.
    server.closeIdleConnections();
    if (now - loggedAt < logEveryMs) return;
    loggedAt = now;
    log.warn({ limit }, 'more connections than this process takes: new ones are refused, idle ones closed');
  });
}

/**
 * A connection counts twice, because an upload has a file open, too.
 * @param openFiles how many files the process may have open
 */
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
