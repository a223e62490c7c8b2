/**
 * Attempts that are not spent although nothing was found wrong right after them: after how many seconds the session comes
 * again, each time. A lack of memory of ten minutes costs nobody an attempt.
 */
const pausesSeconds = [5, 20, 80, 300, 300];
/** Sessions that are remembered; beyond it the oldest are forgotten. */
const remembered = 10_000;

/** How many of them each session has had in this process. */
export class FreeAttempts {
  readonly #taken = new Map<string, number>();

  /** @returns the pause in seconds; undefined when none is left: it may be the audio that makes a program run out of memory */
  take(sessionId: string): number | undefined {
    const taken = this.#taken.get(sessionId) ?? 0;
    if (taken === pausesSeconds.length) return undefined;
    this.#taken.delete(sessionId);
    this.#taken.set(sessionId, taken + 1);
    if (this.#taken.size > remembered) this.#taken.delete(this.#taken.keys().next().value!);
    return pausesSeconds[taken];
  }

  forget(sessionId: string): void {
    this.#taken.delete(sessionId);
  }
}
