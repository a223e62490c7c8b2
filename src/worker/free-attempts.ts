/**
 * Pauses before a session is tried again when an attempt failed and nothing was found wrong right after it. Such an
 * attempt is free. A lack of memory that lasts ten minutes costs no session an attempt.
 */
const pausesSeconds = [5, 20, 80, 300, 300];
/** How many sessions are remembered. The oldest are forgotten first. */
const remembered = 10_000;

/** Counts the free attempts of each session in this process. */
export class FreeAttempts {
  readonly #taken = new Map<string, number>();

  /**
   * @returns the pause in seconds; undefined when no free attempt is left, because the audio itself may make a program
   *   run out of memory
   */
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
