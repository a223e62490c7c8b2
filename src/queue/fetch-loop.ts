/**
 * The one loop of a process that takes jobs: as many as it has free places. It looks for the next at once when a job ends,
 * because the next one of its account may run then, at news, and every few seconds. A look that finds nothing is not cheap: it
 * passes by all jobs of accounts at their limits.
 *
 * All processes hear of every new job. Where there are many, only a few of them look, because the others would find nothing:
 * the more often a process finds something, the more news it follows. Whoever does not follow looks a little later.
 */
const everyMs = 2_000;
/** No process is asked to look less often: what is missed may be found by itself alone. */
const seldomMs = 30_000;
/** With more processes, each looks less often by itself, so that all together look five times a second. */
const togetherMs = 200;
/** So many processes follow all news, as if each were alone. */
const few = 3;
const countEveryMs = 30_000;

export interface Source<Job> {
  /** Takes at most so many jobs. An account's limit may leave some of a batch out, and others wait behind them. */
  take(count: number): Promise<Job[]>;
  /** Runs a job to its end. Never rejects. */
  run(job: Job): Promise<void>;
  /** How many processes take such jobs. */
  countProcesses(): Promise<number>;
  onError(error: Error): void;
}

/** How many jobs may run, while so many do. It is asked before each look, and never rejects. */
export type WorkerSlots = (running: number) => Promise<number> | number;

export class FetchLoop<Job> {
  readonly #source: Source<Job>;
  readonly #places: WorkerSlots;
  readonly #running = new Set<Promise<void>>();
  #placesNow = 0;
  #isOpen = true;
  #isStopping = false;
  #bell = Promise.withResolvers<void>();
  /** Why it looks next: `end` while only jobs of its own have ended. */
  #why: 'news' | 'time' | 'end' = 'time';
  /** How many have ended since the last look, or since one that found less. */
  #ends = 0;
  #processes = 1;
  #countAt = -Infinity;
  /** Which part of the news it follows, 0 to 1. */
  #attention = 0;
  readonly #ended: Promise<void>;

  constructor(places: WorkerSlots, source: Source<Job>) {
    this.#places = places;
    this.#source = source;
    this.#ended = this.#loop();
  }

  async #loop(): Promise<void> {
    while (!this.#isStopping) {
      if (performance.now() >= this.#countAt) await this.#count();
      const [why, ends] = [this.#why, this.#ends];
      // A ring from now on is not lost: what it is for may come after the fetch.
      this.#bell = Promise.withResolvers();
      [this.#why, this.#ends] = ['end', 0];
      this.#placesNow = await this.#places(this.#running.size);
      const free = this.#isOpen ? this.#placesNow - this.#running.size : 0;
      const jobs = free > 0 ? await this.#source.take(free).catch((error: Error) => this.#nothing(error)) : [];
      for (const job of jobs) this.#begin(job);
      if (why === 'news' && free > 0) this.#learn(jobs.length > 0);
      if (jobs.length > 0) this.#lookBehind(why, ends - jobs.length);
      await this.#bellOrPause();
    }
  }

  #learn(hasFound: boolean): void {
    this.#attention = hasFound ? Math.min(1, this.#attention * 2) : this.#attention / 1.7;
  }

  /** More may wait behind what was found; where jobs ended, no more than so many. */
  #lookBehind(why: 'news' | 'time' | 'end', unreplaced: number): void {
    if (why !== 'end') return this.hear();
    if (unreplaced <= 0) return;
    this.#ends += unreplaced;
    this.#bell.resolve();
  }

  async #count(): Promise<void> {
    this.#countAt = performance.now() + countEveryMs;
    this.#processes = await this.#source.countProcesses().catch((error: Error) => {
      this.#source.onError(error);
      return this.#processes;
    });
  }

  #nothing(error: Error): Job[] {
    this.#source.onError(error);
    return [];
  }

  #begin(job: Job): void {
    const ended = this.#source.run(job).finally(() => {
      this.#running.delete(ended);
      this.#ends += 1;
      this.#bell.resolve();
    });
    this.#running.add(ended);
  }

  async #bellOrPause(): Promise<void> {
    const ms = Math.min(seldomMs, Math.max(everyMs, this.#processes * togetherMs));
    const timer = setTimeout(() => this.ring(), ms);
    await this.#bell.promise;
    clearTimeout(timer);
  }

  /** Looks at once. */
  ring(): void {
    this.#why = 'time';
    this.#bell.resolve();
  }

  /** Something may wait, of which all processes hear. */
  hear(): void {
    const least = Math.min(1, (few / this.#processes) ** 1.5);
    this.#attention = Math.max(least, this.#attention);
    if (Math.random() >= this.#attention) return;
    this.#why = 'news';
    this.#bell.resolve();
  }

  /** How many jobs run, and how many might when it last looked. */
  get use(): { running: number; places: number } {
    return { running: this.#running.size, places: this.#placesNow };
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
