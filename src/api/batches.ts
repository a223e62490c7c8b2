/** After this time a batch no longer holds up the others: its connection may be one that nobody answers on. */
const patienceMs = 1_000;

export interface BatchLimits<Entry> {
  /** Of one batch. */
  maxEntries: number;
  /** Batches that are handled at the same time, but for late ones: far fewer than the pool has connections. */
  maxAtOnce: number;
  /** Whom an entry belongs to: where not all fit into a batch, accounts take turns. */
  accountOf: (entry: Entry) => string;
}

/**
 * Gathers what is asked for in the same moment, and while earlier statements run, into few statements: a thousand clients
 * at once cost little more than one, and who comes alone does not wait for others.
 */
export class Batches<Entry> {
  /**
   * Thrown away as it is with every batch: of a map that entries come to and go from for hours, V8 keeps the tables that it
   * outgrew, and by way of them whatever was in it, until a full collection. That was half of all it collected.
   */
  #waiting = new Map<string, Entry>();
  readonly #handle: (entries: Entry[]) => Promise<void>;
  readonly #limits: BatchLimits<Entry>;
  #running = 0;
  #isScheduled = false;

  /** @param handle takes a batch; it may not throw */
  constructor(handle: (entries: Entry[]) => Promise<void>, limits: BatchLimits<Entry>) {
    this.#handle = handle;
    this.#limits = limits;
  }

  /** The entry that waits under this key, or a new one. */
  entry(key: string, make: () => Entry): Entry {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting;
    const entry = make();
    this.#waiting.set(key, entry);
    this.#schedule();
    return entry;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0 || this.#running === this.#limits.maxAtOnce) return;
    this.#isScheduled = true;
    // Not before everything that came in the same turn of the event loop has been gathered.
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#handleSome();
    });
  }

  async #handleSome(): Promise<void> {
    const batch = this.#take();
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
    await this.#handle(batch);
    clearTimeout(timer);
    letOthersRun();
  }

  #take(): Entry[] {
    const { maxEntries, accountOf } = this.#limits;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    if (waiting.size <= maxEntries) return [...waiting.values()];
    const chosen = new Set(inTurns([...Map.groupBy(waiting.values(), accountOf).values()], maxEntries));
    for (const [key, entry] of waiting) if (!chosen.has(entry)) this.#waiting.set(key, entry);
    return [...chosen];
  }
}

/** The first of each line, then the second of each, until there are so many; the lines hold more. */
function inTurns<Entry>(lines: readonly (readonly Entry[])[], count: number): Entry[] {
  const chosen: Entry[] = [];
  for (let place = 0; chosen.length < count; place += 1) {
    for (const line of lines) if (place < line.length && chosen.length < count) chosen.push(line[place]!);
  }
  return chosen;
}
