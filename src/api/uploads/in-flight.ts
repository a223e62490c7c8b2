/** Uploads that this process is receiving: they count against their account's queued sessions before they are one. */
export class UploadsInFlight {
  readonly #counts = new Map<string, number>();
  readonly #running = new Set<Promise<unknown>>();

  of(accountId: string): number {
    return this.#counts.get(accountId) ?? 0;
  }

  /** Counts one more; the caller gives it back with the function that it gets. */
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

  /** Receives one. @param receive also removes what is of no use */
  async run<Result>(receive: () => Promise<Result>): Promise<Result> {
    const running = receive();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Resolves when all have ended, however they did: a process that ends earlier leaves half files behind. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#running);
  }
}
