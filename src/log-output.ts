/** Standard output for lines that must stop nobody: not the event loop, and not the end of the process. */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';

/** A pipe takes 64 KiB at once. */
const maxGathered = 64 * 1024;
/** In characters: what may wait for a reader, or for room on the disk, before lines are dropped. */
const maxWaiting = 1024 * 1024;
/** One write for the lines of 5 ms: a client that asks alone would otherwise cost one for each of its requests. */
const gatherMs = 5;
/** How soon a reader that had stalled, or a disk that was full, is tried again. */
const retryMs = 20;
/** How long the end of the process waits for a reader that has stalled. */
const maxEndMs = 2_000;

/**
 * Writes lines soon, in order. While the reader takes none, or the disk is full, they wait in memory; beyond 1 MiB they are
 * dropped and counted, until half of that has been written.
 */
export class LogOutput {
  /** Opened for the first line: a log that says nothing opens nothing. */
  #fd: number | undefined;
  /** What could not be written yet, and the lines after it. */
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

  /** @param tell hears how many lines were dropped, when there is room for more again */
  onLoss(tell: (lost: number) => void): void {
    this.#tell = tell;
  }

  /** @param line ends in a line feed */
  write(line: string): void {
    // Once a line was dropped, those after it are too until that was told: the gap is where the log says that it is.
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
      while (this.#unwritten.length > 0) {
        this.#unwritten = this.#unwritten.subarray(writeSync(this.#fd!, this.#unwritten));
      }
      return 'written';
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 'stalled' : 'refused';
    }
  }

  #open(): number {
    process.on('exit', () => this.#writeLast());
    return openWithoutBlocking(1);
  }

  /** A reader that only was slow gets the last lines; one that reads nothing is not waited for. */
  #writeLast(): void {
    this.#endsAt ??= performance.now() + maxEndMs;
    while (this.#flush() === 'stalled' && performance.now() < this.#endsAt) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
    }
  }
}

/**
 * A descriptor of the same pipe or terminal whose writes fail with EAGAIN instead of blocking.
 *
 * Whether writes block belongs to what was opened, which this process shares with its parent and its neighbours; so it is
 * opened once more, for this process alone. A socket, or a pipe of another user, can not be opened again. There Node.js does
 * what it does for `console.log`: it makes the shared one non-blocking until the process ends.
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
