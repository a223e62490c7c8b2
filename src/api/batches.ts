/** After this time a batch no longer holds up the others: its connection may be one that nobody answers on. */
const patienceMs = 1_000;

/**
 * Gathers what is asked for in the same moment, and while earlier statements run, into few statements: a thousand clients
 * at once cost little more than one, and who comes alone does not wait for others.
 */
export class Batches<Entry> {
  /**
   * The last takes more. Each is thrown away as it is: of a map that entries come to and go from for hours, V8 keeps the
   * tables that it outgrew, and by way of them whatever was in it, until a full collection. That was half of all it collected.
   */
  readonly #waiting: Map<string, Entry>[] = [];
  readonly #handle: (entries: Entry[]) => Promise<void>;
  readonly #maxEntries: number;
  readonly #maxAtOnce: number;
  #running = 0;
  #isScheduled = false;

  /**
   * @param handle takes a batch; it may not throw
   * @param limits.maxAtOnce batches that are handled at the same time, but for late ones: far fewer than the pool has
   *   connections
   */
  constructor(handle: (entries: Entry[]) => Promise<void>, limits: { maxEntries: number; maxAtOnce: number }) {
    this.#handle = handle;
    this.#maxEntries = limits.maxEntries;
    this.#maxAtOnce = limits.maxAtOnce;
  }

  /** The entry under this key of the batch that is being gathered, or a new one. */
  entry(key: string, make: () => Entry): Entry {
    let batch = this.#waiting.at(-1);
    let entry = batch?.get(key);
    if (entry !== undefined) return entry;
    if (batch === undefined || batch.size === this.#maxEntries) this.#waiting.push((batch = new Map()));
    entry = make();
    batch.set(key, entry);
    this.#schedule();
    return entry;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0 || this.#running === this.#maxAtOnce) return;
    this.#isScheduled = true;
    // Not before everything that came in the same turn of the event loop has been gathered.
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#handleFirst();
    });
  }

  async #handleFirst(): Promise<void> {
    const batch = this.#waiting.shift()!;
    this.#running += 1;
    this.#schedule();
    let isCounted = true;
    const letOthersRun = () => {
      if (!isCounted) return;
      isCounted = false;
      this.#running -= 1;
      this.#schedule();
    };
    const timer = setTimeout(letOthersRun, patienceMs);
    await this.#handle([...batch.values()]);
    clearTimeout(timer);
    letOthersRun();
  }
}
