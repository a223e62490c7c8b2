/**
 * Ends connections of clients that do not take their answers. The rule is that of uploads: 30 s without a byte, or less
 * than 16 KiB/s over 60 s. Node itself would keep connection and answer for ever.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const checkEveryMs = 5_000;
const maxIdleMs = 30_000;
const windowMs = 60_000;
const minBytesPerWindow = (16 * 1024 * windowMs) / 1000;

/** Checks connections instead of answers, so an ordinary request costs nothing. */
export function limitSlowReaders(server: Server): void {
  const sockets = new Set<Socket>();
  const behind = new WeakMap<Socket, ReadingPace>();
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
      if (pace === undefined) behind.set(socket, new ReadingPace(taken, now));
      else if (pace.isTooSlow(taken, now)) socket.destroy();
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

/** How fast a client takes what waits for it, since it first fell behind. Times in ms of one clock. */
export class ReadingPace {
  #taken: number;
  #lastTakenAt: number;
  #windowBegan: number;
  #takenBefore: number;

  /** @param taken bytes that the client's side has taken so far */
  constructor(taken: number, now: number) {
    this.#taken = taken;
    this.#takenBefore = taken;
    this.#lastTakenAt = now;
    this.#windowBegan = now;
  }

  isTooSlow(taken: number, now: number): boolean {
    if (taken > this.#taken) this.#lastTakenAt = now;
    this.#taken = taken;
    if (now - this.#lastTakenAt >= maxIdleMs) return true;
    if (now - this.#windowBegan < windowMs) return false;
    const isSlow = taken - this.#takenBefore < minBytesPerWindow;
    this.#windowBegan = now;
    this.#takenBefore = taken;
    return isSlow;
  }
}
