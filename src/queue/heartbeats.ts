/** Tells the queue which jobs of this process still run, and learns which of them it has given away. */
import { heartbeatRefreshSeconds } from './supervision.ts';

interface Held {
  id: string;
  retryCount: number;
}

export class Heartbeats {
  /** The jobs that run, and how each learns that it was given away. */
  readonly #held = new Map<Held, AbortController>();
  readonly #touch: (jobs: Held[]) => Promise<readonly string[]>;
  readonly #onError: (error: Error) => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param touch one statement for all; answers the ids of those that this process still holds */
  constructor(touch: (jobs: Held[]) => Promise<readonly string[]>, onError: (error: Error) => void) {
    this.#touch = touch;
    this.#onError = onError;
  }

  /** @returns aborts when the job is given away */
  begin(job: Held): AbortSignal {
    const lost = new AbortController();
    this.#held.set(job, lost);
    this.#timer ??= setInterval(() => void this.#beat(), heartbeatRefreshSeconds * 1_000);
    return lost.signal;
  }

  end(job: Held): void {
    this.#held.delete(job);
    if (this.#held.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #beat(): Promise<void> {
    const jobs = [...this.#held].filter(([, lost]) => !lost.signal.aborted).map(([job]) => job);
    if (jobs.length === 0) return;
    try {
      const ours = new Set(await this.#touch(jobs));
      for (const job of jobs)
        if (!ours.has(job.id)) this.#held.get(job)?.abort(new Error('the queue has given the job away'));
    } catch (error) {
      // The statement failed; the jobs may still be ours.
      this.#onError(error as Error);
    }
  }
}
