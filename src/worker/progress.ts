/** Writes how far the running jobs are: one statement for all of this process, and at most one every two seconds. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt } from '../../db/sessions/attempts.ts';

const everyMs = 2_000;

export class ProgressReports {
  readonly #news = new Map<Attempt, number>();
  readonly #write: (news: ReadonlyMap<Attempt, number>) => Promise<void>;
  readonly #pause: () => Promise<void>;
  #isWriting = false;

  /** @param write never rejects */
  constructor(
    write: (news: ReadonlyMap<Attempt, number>) => Promise<void>,
    pause: () => Promise<void> = () => sleep(everyMs, undefined, { ref: false }),
  ) {
    this.#write = write;
    this.#pause = pause;
  }

  /** @param percent 0 to 100; the latest one is written */
  report(attempt: Attempt, percent: number): void {
    this.#news.set(attempt, percent);
    if (!this.#isWriting) void this.#writeAll();
  }

  /** Nobody wants to know any more how far an attempt was that has ended. */
  end(attempt: Attempt): void {
    this.#news.delete(attempt);
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#news.size > 0) {
      const news = new Map(this.#news);
      this.#news.clear();
      await this.#write(news);
      await this.#pause();
    }
    this.#isWriting = false;
  }
}
