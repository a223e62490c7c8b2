/**
 * Gathers what is asked for in the same moment, and while earlier statements run, into few statements: a thousand clients
 * at once cost little more than one, and who comes alone does not wait for others.
 */
export class Batches<Entry> {
  readonly #waiting = new Map<string, Entry>();
  readonly #handle: (entries: Entry[]) => Promise<void>;
  readonly #maxEntries: number;
  readonly #maxAtOnce: number;
  #running = 0;
  #isScheduled = false;

  /**
   * @param handle takes a batch; it may not throw
   * @param limits.maxAtOnce batches that are handled at the same time: far fewer than the pool has connections
   */
  constructor(handle: (entries: Entry[]) => Promise<void>, limits: { maxEntries: number; maxAtOnce: number }) {
    this.#handle = handle;
    this.#maxEntries = limits.maxEntries;
    this.#maxAtOnce = limits.maxAtOnce;
  }

  /** The entry that waits under this key, or a new one. */
  entry(key: string, make: () => Entry): Entry {
    let entry = this.#waiting.get(key);
    if (entry === undefined) {
      entry = make();
      this.#waiting.set(key, entry);
      this.#schedule();
    }
    return entry;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0 || this.#running === this.#maxAtOnce) return;
    this.#isScheduled = true;
    // Not before everything that came in the same turn of the event loop has been gathered.
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#handleSome();
    });
  }

  async #handleSome(): Promise<void> {
    const batch: Entry[] = [];
    for (const [key, entry] of this.#waiting) {
      if (batch.length === this.#maxEntries) break;
      batch.push(entry);
      this.#waiting.delete(key);
    }
    this.#running += 1;
    this.#schedule();
    await this.#handle(batch);
    this.#running -= 1;
    this.#schedule();
  }
}
