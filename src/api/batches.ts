/**
 * After this time, a batch does not hold up later batches any more: its connection may lead to a server that does not
 * answer.
 */
const patienceMs = 1_000;

export interface BatchLimits<Entry> {
  /** The most entries of one batch. */
  maxEntries: number;
  /** Batches that are handled at the same time, not counting late ones. Far fewer than the pool has connections. */
  maxAtOnce: number;
  /** The account that an entry belongs to. When not all entries fit into a batch, accounts take turns. */
  accountOf: (entry: Entry) => string;
}

/**
 * Gathers entries of the same moment, and those that come while earlier statements run, into few statements. A thousand
 * clients at once cost little more than one, and a client that comes alone does not wait.
 */
export class Batches<Entry> {
  /**
   * A new map for each batch. V8 keeps the tables that a map has outgrown, and all that was in them, until a full
   * collection. With one map for hours, that was half of all the memory that V8 collected.
   */
  #waiting = new Map<string, Entry>();
  readonly #handle: (entries: Entry[]) => Promise<void>;
  readonly #limits: BatchLimits<Entry>;
  #running = 0;
  #isScheduled = false;

  /** @param handle takes a batch; it must not throw */
  constructor(handle: (entries: Entry[]) => Promise<void>, limits: BatchLimits<Entry>) {
    this.#handle = handle;
    this.#limits = limits;
  }

  /** Whether nothing waits or runs. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#waiting.size === 0;
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
    // Later, so that everything that comes in the same turn of the event loop is gathered first.
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

/**
 * Takes the first entry of each line, then the second of each, until there are enough. The lines hold more than enough.
 */
function inTurns<Entry>(lines: readonly (readonly Entry[])[], count: number): Entry[] {
  const chosen: Entry[] = [];
  for (let place = 0; chosen.length < count; place += 1) {
    for (const line of lines) if (place < line.length && chosen.length < count) chosen.push(line[place]!);
  }
  return chosen;
}
