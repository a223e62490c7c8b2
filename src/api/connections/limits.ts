/**
 * Limits how many connections are open at once. Without file descriptors nothing works: no upload can be stored, no
 * ffmpeg started and no database asked. So connections are refused before descriptors run out.
 */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Socket } from 'node:net';

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

/**
 * Ends connections of clients that do not take their answers. The rule is that of uploads: 30 s without a byte, or less
 * than 16 KiB/s over 60 s. Node itself would keep connection and answer for ever.
 */

const checkEveryMs = 5_000;
const maxIdleMs = 30_000;
const windowMs = 60_000;
const minBytesPerWindow = (16 * 1024 * windowMs) / 1000;

/** Checks connections instead of answers, so an ordinary request costs nothing. */
export function limitSlowReaders(server: Server): void {
  const sockets = new Set<Socket>();
  const behind = new WeakMap<Socket, Pace>();
  let timer: NodeJS.Timeout | undefined;

  const check = () => {
    const now = performance.now();
    for (const socket of sockets) {
      if (socket.writableLength === 0) {
        behind.delete(socket);
        continue;
      }
      const taken = socket.bytesWritten - socket.writableLength;
      const pace = behind.get(socket);
      if (pace === undefined) behind.set(socket, new Pace(taken, now));
      else if (pace.faultAt(taken, now) !== undefined) socket.destroy();
    }
  };

  server.on('connection', (socket) => {
    sockets.add(socket);
    timer ??= setInterval(check, checkEveryMs);
    socket.once('close', () => {
      sockets.delete(socket);
      if (sockets.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
  });
}

/** How fast a client takes what waits for it, or sends what is waited for. Times in ms of one clock. */
export class Pace {
  #taken: number;
  #lastTakenAt: number;
  #windowBegan: number;
  #takenBefore: number;

  /** @param taken bytes so far */
  constructor(taken: number, now: number) {
    this.#taken = taken;
    this.#takenBefore = taken;
    this.#lastTakenAt = now;
    this.#windowBegan = now;
  }

  /** What is wrong with the pace: no byte for 30 s, or less than 16 KiB/s over 60 s. */
  faultAt(taken: number, now: number): 'stalled' | 'slow' | undefined {
    if (taken > this.#taken) this.#lastTakenAt = now;
    this.#taken = taken;
    if (now - this.#lastTakenAt >= maxIdleMs) return 'stalled';
    if (now - this.#windowBegan < windowMs) return undefined;
    const isSlow = taken - this.#takenBefore < minBytesPerWindow;
    this.#windowBegan = now;
    this.#takenBefore = taken;
    return isSlow ? 'slow' : undefined;
  }
}
