/**
 * Files that look superfluous. A clock that jumps makes every file old in a moment, also that of an upload which is about
 * to commit. So a file goes only if it looked superfluous ten minutes ago already, by a clock that never jumps: no upload
 * is without a byte and without a row for so long.
 */
const patienceMs = 10 * 60_000;

export class Suspects {
  #since = new Map<string, number>();
  #seenNow = new Map<string, number>();

  /** Whether the file has been a suspect for long enough. @param steadyNow ms, as of `performance.now()` */
  convicts(path: string, steadyNow: number): boolean {
    const since = this.#since.get(path) ?? steadyNow;
    this.#seenNow.set(path, since);
    return steadyNow - since >= patienceMs;
  }

  /** At the end of a sweep: what it did not meet again is none any more. */
  forgetOthers(): void {
    this.#since = this.#seenNow;
    this.#seenNow = new Map();
  }
}
