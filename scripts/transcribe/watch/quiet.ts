import { isSameState } from '../recording-file.ts';
import type { FileState } from '../recording-file.ts';

/**
 * Which files have stopped growing. Only what was seen to stay the same counts: the clock of a file server may be wrong.
 */
export class QuietFiles {
  readonly #forMs: number;
  readonly #seen = new Map<string, { state: FileState; since: number }>();

  /** @param forMs how long a file must not change */
  constructor(forMs: number) {
    this.#forMs = forMs;
  }

  /** @param now ms, by a clock that nobody sets */
  isQuiet(path: string, state: FileState, now: number): boolean {
    const seen = this.#seen.get(path);
    if (seen !== undefined && isSameState(seen.state, state)) return now - seen.since >= this.#forMs;
    this.#seen.set(path, { state, since: now });
    return false;
  }

  /** Forgets files that are gone: when one comes back, it has to be quiet anew. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#seen.keys()) if (!paths.has(path)) this.#seen.delete(path);
  }
}
