/**
 * Uploads that this process is receiving. They count as queued sessions of their account although they are no sessions
 * yet.
 */
export class UploadsInFlight {
  readonly #counts = new Map<string, number>();
  readonly #running = new Set<Promise<unknown>>();

  /** Of all accounts. */
  get count(): number {
    return this.#running.size;
  }

  of(accountId: string): number {
    return this.#counts.get(accountId) ?? 0;
  }

  /** Counts one more upload. @returns call it to end the count */
  enter(accountId: string): () => void {
    this.#counts.set(accountId, this.of(accountId) + 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      const left = this.of(accountId) - 1;
      if (left === 0) this.#counts.delete(accountId);
      else this.#counts.set(accountId, left);
    };
  }

  /** Receives an upload. @param receive also removes its file if it is not used */
  async run<Result>(receive: () => Promise<Result>): Promise<Result> {
    const running = receive();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /**
   * Resolves when all have ended, whether or not they succeeded. A process that ends earlier leaves incomplete files.
   */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#running);
  }
}
