/**
 * The one loop of a process that takes jobs: as many as it has free places. It looks for the next at once when a place becomes
 * free, at news, and every few seconds.
 *
 * All processes hear of every new job. Where there are many, only a few of them look, because the others would find nothing:
 * the more often a process finds something, the more news it follows. Whoever does not follow looks a little later.
 */
const everyMs = 2_000;
/** No process is asked to look less often: what is missed may be found by itself alone. */
const seldomMs = 30_000;
/** With more processes, each looks less often by itself, so that all together look eight times a second. */
const togetherMs = 125;
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
  #bell = Promise.withResolvers<boolean>();
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
    for (let atNews = false; !this.#isStopping;) {
      if (performance.now() >= this.#countAt) await this.#count();
      // A ring from now on is not lost: what it is for may come after the fetch.
      this.#bell = Promise.withResolvers();
      this.#placesNow = await this.#places(this.#running.size);
      const free = this.#isOpen ? this.#placesNow - this.#running.size : 0;
      const jobs = free > 0 ? await this.#source.take(free).catch((error: Error) => this.#nothing(error)) : [];
      for (const job of jobs) this.#begin(job);
      if (jobs.length > 0) this.#attention = Math.min(1, this.#attention * 2);
      else if (atNews && free > 0) this.#attention /= 1.4;
      // More may wait behind what was found.
      if (jobs.length > 0) this.hear();
      atNews = await this.#bellOrPause();
    }
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
      this.ring();
    });
    this.#running.add(ended);
  }

  /** @returns whether news ended the pause */
  async #bellOrPause(): Promise<boolean> {
    const ms = Math.min(seldomMs, Math.max(everyMs, this.#processes * togetherMs));
    const timer = setTimeout(() => this.ring(), ms);
    const atNews = await this.#bell.promise;
    clearTimeout(timer);
    return atNews;
  }

  /** Looks at once. */
  ring(): void {
    this.#bell.resolve(false);
  }

  /** Something may wait, of which all processes hear. */
  hear(): void {
    const least = Math.min(1, (few / this.#processes) ** 1.5);
    this.#attention = Math.max(least, this.#attention);
    if (Math.random() < this.#attention) this.#bell.resolve(true);
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
