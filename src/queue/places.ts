/**
 * The places of a process at a queue. Each place takes one job after the other. All can be closed for a while; running
 * jobs go on.
 */
import type { PgBoss } from 'pg-boss';

/** Registers a worker of one job at a time with pg-boss. @returns its id */
type Register = () => Promise<string>;

export class Places {
  readonly #boss: PgBoss;
  readonly #queue: string;
  readonly #register: Register;
  #loops: Promise<void>[] = [];
  #isStopping = false;
  #opened = Promise.withResolvers<void>();
  #closed = Promise.withResolvers<void>();

  constructor(boss: PgBoss, queue: string, register: Register) {
    this.#boss = boss;
    this.#queue = queue;
    this.#register = register;
    this.#opened.resolve();
  }

  /** Resolves when every place takes jobs. */
  async start(count: number): Promise<void> {
    const started = Array.from({ length: count }, () => Promise.withResolvers<void>());
    this.#loops = started.map(({ resolve }) => this.#keep(resolve));
    await Promise.all(started.map(({ promise }, index) => Promise.race([promise, this.#loops[index]])));
  }

  /** Opens a place again when its running job has ended, so that there are never more jobs than places. */
  async #keep(onRegistered: () => void): Promise<void> {
    for (;;) {
      await this.#opened.promise;
      if (this.#isStopping) return;
      const closed = this.#closed.promise;
      const id = await this.#register();
      onRegistered();
      await closed;
      await this.#boss.offWork(this.#queue, { id, wait: true });
    }
  }

  /** From now on no place takes a job until `open`. A job that is just being taken still comes. */
  close(): void {
    if (this.#isStopping) return;
    this.#opened = Promise.withResolvers();
    this.#closed.resolve();
  }

  open(): void {
    this.#closed = Promise.withResolvers();
    this.#opened.resolve();
  }

  /** Closes all places for good. Resolves when their jobs have ended, also those that were just being taken. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#closed.resolve();
    this.#opened.resolve();
    await Promise.all(this.#loops);
  }
}
