const patienceMs = 10 * 60_000;

/** When a sweep is made. */
export interface Moment {
  /** ms since the epoch, by the clock of the files. */
  now: number;
  /** ms, by a clock that never jumps. */
  steadyNow: number;
}

/**
 * Files that look superfluous. A clock that jumps makes every file look old, also the file of an upload that is about
 * to commit. So a file is removed only if it looked superfluous ten minutes ago already, by a clock that never jumps.
 * No upload is without a new byte and without a row for so long.
 */
export class Suspects {
  #since = new Map<string, number>();
  #seenNow = new Map<string, number>();

  /** Whether the file has been a suspect for long enough. @param steadyNow ms, as of `performance.now()` */
  convicts(path: string, steadyNow: number): boolean {
    const since = this.#since.get(path) ?? steadyNow;
    this.#seenNow.set(path, since);
    return steadyNow - since >= patienceMs;
  }

  /** Call it at the end of a sweep: a file that this sweep did not see is no suspect any more. */
  forgetOthers(): void {
    this.#since = this.#seenNow;
    this.#seenNow = new Map();
  }
}
