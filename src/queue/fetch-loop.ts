/**
 * The one loop of a process that takes jobs: as many as it has free places. It takes the next at once when a place becomes
 * free, when somebody rings, and every few seconds.
 */
const everyMs = 2_000;

export interface Source<Job> {
  /** Takes at most so many jobs. An account's limit may leave some of a batch out, and others wait behind them. */
  take(count: number): Promise<Job[]>;
  /** Runs a job to its end. Never rejects. */
  run(job: Job): Promise<void>;
  onError(error: Error): void;
}

export class FetchLoop<Job> {
  readonly #source: Source<Job>;
  readonly #places: number;
  readonly #running = new Set<Promise<void>>();
  #isOpen = true;
  #isStopping = false;
  #bell = Promise.withResolvers<void>();
  readonly #ended: Promise<void>;

  constructor(places: number, source: Source<Job>) {
    this.#places = places;
    this.#source = source;
    this.#ended = this.#loop();
  }

  async #loop(): Promise<void> {
    while (!this.#isStopping) {
      // A ring from now on is not lost: what it is for may come after the fetch.
      this.#bell = Promise.withResolvers();
      const free = this.#isOpen ? this.#places - this.#running.size : 0;
      const jobs = free > 0 ? await this.#source.take(free).catch((error: Error) => this.#nothing(error)) : [];
      for (const job of jobs) this.#begin(job);
      if (jobs.length === 0) await this.#bellOrPause();
    }
  }

  #nothing(error: Error): Job[] {
    this.#source.onError(error);
    return [];
  }

  #begin(job: Job): void {
    const ended = this.#source.run(job).finally(() => {
      this.#running.delete(ended);
      this.ring();
    });
    this.#running.add(ended);
  }

  async #bellOrPause(): Promise<void> {
    const timer = setTimeout(() => this.ring(), everyMs);
    await this.#bell.promise;
    clearTimeout(timer);
  }

  /** Something may wait. */
  ring(): void {
    this.#bell.resolve();
  }

  /** From now on no job is taken until `open`. Jobs that are just being taken still come. */
  close(): void {
    this.#isOpen = false;
  }

  open(): void {
    this.#isOpen = true;
    this.ring();
  }

  /** Takes no job any more. Resolves when all have ended, also those that were just being taken. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.ring();
    await this.#ended;
    await Promise.all(this.#running);
  }
}
