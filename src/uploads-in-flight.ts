/** Uploads that this process is receiving, by account: they count against the queued sessions before they are one. */
export class UploadsInFlight {
  readonly #counts = new Map<string, number>();

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
}
