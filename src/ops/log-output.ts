/**
 * Writes the log to standard output and never blocks: neither the event loop nor the end of the process waits for the
 * reader.
 */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';

/** A pipe takes 64 KiB at once. */
const maxGathered = 64 * 1024;
/** Characters that may wait for a reader or for room on the disk. Lines beyond that are dropped. */
const maxWaiting = 1024 * 1024;
/** Lines of 5 ms are written at once. Otherwise each request of a client that asks alone would cost one write. */
const gatherMs = 5;
/** How long after a stalled reader or a full disk the next write is tried. */
const retryMs = 20;
/** How long the end of the process waits for a reader that has stalled. */
const maxEndMs = 2_000;

/**
 * Writes lines soon and in order. While the reader stalls or the disk is full, lines wait in memory. Beyond 1 MiB, new
 * lines are dropped and counted until half of the waiting ones are written.
 */
export class LogOutput {
  /** Opened for the first line: a log that says nothing opens nothing. */
  #fd: number | undefined;
  /** The rest of a write that was cut short, and the lines after it. */
  #unwritten: Buffer = Buffer.alloc(0);
  #lines = '';
  #timer: NodeJS.Timeout | undefined;
  #endsAt: number | undefined;
  #untoldLost = 0;
  #lost = 0;
  #tell: (lost: number) => void = () => {};

  /** Lines that were dropped since the process began. */
  get lost(): number {
    return this.#lost + this.#untoldLost;
  }

  /** @param tell receives how many lines were dropped, once there is room again */
  onLoss(tell: (lost: number) => void): void {
    this.#tell = tell;
  }

  /** @param line ends in a line feed */
  write(line: string): void {
    // After a dropped line, later lines are dropped too until the loss is logged. So the gap is where the log says it is.
    if (this.#untoldLost > 0 || this.#waiting >= maxWaiting) {
      this.#untoldLost += 1;
      return;
    }
    this.#fd ??= this.#open();
    this.#lines += line;
    if (this.#endsAt !== undefined) this.#writeLast();
    else if (this.#lines.length >= maxGathered) this.#flush();
    else this.#flushIn(gatherMs);
  }

  get #waiting(): number {
    return this.#unwritten.length + this.#lines.length;
  }

  #flushIn(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#flush() !== 'written') this.#flushIn(retryMs);
    }, ms).unref();
  }

  #flush(): 'written' | 'stalled' | 'refused' {
    const outcome = this.#writeWaiting();
    if (this.#untoldLost > 0 && this.#waiting <= maxWaiting / 2) {
      const lost = this.#untoldLost;
      this.#untoldLost = 0;
      this.#lost += lost;
      this.#tell(lost);
    }
    return outcome;
  }

  #writeWaiting(): 'written' | 'stalled' | 'refused' {
    const lines = Buffer.from(this.#lines);
    this.#unwritten = this.#unwritten.length === 0 ? lines : Buffer.concat([this.#unwritten, lines]);
    this.#lines = '';
    try {
      while (this.#unwritten.length > 0)
        this.#unwritten = this.#unwritten.subarray(writeSync(this.#fd!, this.#unwritten));
      return 'written';
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 'stalled' : 'refused';
    }
  }

  #open(): number {
    process.on('exit', () => this.#writeLast());
    return openWithoutBlocking(1);
  }

  /** The last lines. A slow reader gets them; a reader that reads nothing is not waited for. */
  #writeLast(): void {
    this.#endsAt ??= performance.now() + maxEndMs;
    while (this.#flush() === 'stalled' && performance.now() < this.#endsAt) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
    }
  }
}

/**
 * Opens standard output once more, so that writes fail with EAGAIN instead of blocking.
 *
 * The flag belongs to the open file, which this process shares with its parent and its neighbours. So the file is
 * opened again for this process alone. A socket, or a pipe of another user, can't be opened again. Then Node.js makes
 * the shared file non-blocking until the process ends, as it does for `console.log`.
 */
function openWithoutBlocking(fd: 1): number {
  if (fstatSync(fd).isFile()) return fd;
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    void process.stdout;
    return fd;
  }
}
