/**
 * Loads what many requests ask for by few statements, as the package `dataloader` does. It has limits, too: only so many
 * keys in a batch and batches at once, and accounts take turns. A thousand clients at once cost little more than one, and
 * a client that comes alone does not wait.
 */
import { isDatabaseAway } from '../../db/connection/database-errors.ts';

/**
 * After this time, a batch does not hold up later batches any more: its connection may lead to a server that does not
 * answer.
 */
const patienceMs = 1_000;

export interface LoaderOptions<Key> {
  maxBatchSize: number;
  /** Batches that are loaded at the same time, not counting late ones. Far fewer than the pool has connections. */
  maxAtOnce: number;
  /** The account that a key belongs to. When not all keys fit into a batch, accounts take turns. */
  accountOf: (key: Key) => string;
  /**
   * Equal keys of the same moment share one answer. It names the account, so that no answer is shared between accounts.
   * Where it is absent, each key has its own answer.
   */
  cacheKeyOf?: (key: Key) => string;
}

interface Waiting<Key, Answer> extends PromiseWithResolvers<Answer> {
  key: Key;
}

export class Loader<Key, Answer> {
  /**
   * A new map for each batch. V8 keeps the tables that a map has outgrown, and all that was in them, until a full
   * collection. With one map for hours, that was half of all the memory that V8 collected.
   */
  #waiting = new Map<unknown, Waiting<Key, Answer>>();
  readonly #loadBatch: (keys: Key[]) => Promise<Answer[]>;
  readonly #options: LoaderOptions<Key>;
  #running = 0;
  #isScheduled = false;

  /**
   * @param loadBatch answers keys, in their order. When it throws though the database is there, nothing was changed, and
   *   it is asked for each key alone
   */
  constructor(loadBatch: (keys: Key[]) => Promise<Answer[]>, options: LoaderOptions<Key>) {
    this.#loadBatch = loadBatch;
    this.#options = options;
  }

  /** The answer as it is after this call. */
  load(key: Key): Promise<Answer> {
    const cacheKey = this.#options.cacheKeyOf?.(key) ?? Symbol();
    const same = this.#waiting.get(cacheKey);
    if (same !== undefined) return same.promise;
    const waiting = { key, ...Promise.withResolvers<Answer>() };
    this.#waiting.set(cacheKey, waiting);
    this.#schedule();
    return waiting.promise;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0 || this.#running === this.#options.maxAtOnce) return;
    this.#isScheduled = true;
    // Later, so that everything that comes in the same turn of the event loop is gathered first.
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#loadSome();
    });
  }

  async #loadSome(): Promise<void> {
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
    await this.#answer(batch);
    clearTimeout(timer);
    letOthersRun();
  }

  #take(): Waiting<Key, Answer>[] {
    const { maxBatchSize, accountOf } = this.#options;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    if (waiting.size <= maxBatchSize) return [...waiting.values()];
    const accounts = Map.groupBy(waiting.values(), ({ key }) => accountOf(key));
    const chosen = new Set(inTurns([...accounts.values()], maxBatchSize));
    for (const [cacheKey, one] of waiting) if (!chosen.has(one)) this.#waiting.set(cacheKey, one);
    return [...chosen];
  }

  async #answer(batch: readonly Waiting<Key, Answer>[]): Promise<void> {
    try {
      const answers = await this.#loadBatch(batch.map(({ key }) => key));
      batch.forEach(({ resolve }, index) => resolve(answers[index]!));
    } catch (error) {
      if (batch.length === 1 || isDatabaseAway(error)) for (const { reject } of batch) reject(error);
      // When one account's rows can't be read, other accounts still get their answers.
      else for (const one of batch) await this.#answer([one]);
    }
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
