import { FairTurns } from '../../concurrency/fair-turns.ts';

/**
 * A body may be many megabytes, and one with words takes a connection. So at most half of the pool is used, and half of
 * that by one account.
 */
const limits = { atOnce: 10, each: 5 };
/** In characters. It takes a while to send a longer body. */
const longFrom = 256 * 1024;

interface Shared {
  body: Promise<string>;
  /** Clients that wait for the body, or that it is being sent to. */
  readers: number;
}

/**
 * Makes bodies from stored transcripts and shares them. A client gets the same body as others when it is just being
 * made, or when it is long and still being sent to somebody. So a thousand clients that wake up together, or that read
 * a long transcript slowly, cost one reading and one copy in memory.
 */
export class TranscriptBodies {
  /** Not a map, for the reason that {@link Loader} gives. */
  readonly #shared: Record<string, Shared> = Object.create(null);
  readonly #turns = new FairTurns(limits);

  /**
   * @param accountId the owner, who has just been found to own the session: bodies never cross accounts
   * @param tag the answer's ETag, which tells versions and formats apart
   * @param reader.signal aborts when the answer is out, or its client has left; read for a long body only
   */
  async of(
    accountId: string,
    sessionId: string,
    tag: string,
    make: () => Promise<string>,
    reader: { readonly signal: AbortSignal },
  ): Promise<string> {
    const key = `${accountId}/${sessionId}/${tag}`;
    const shared = this.#shared[key] ?? { body: this.#turns.run(accountId, make), readers: 0 };
    this.#shared[key] = shared;
    shared.readers += 1;
    const leave = () => {
      shared.readers -= 1;
      if (shared.readers === 0) delete this.#shared[key];
    };
    try {
      const body = await shared.body;
      if (body.length < longFrom || reader.signal.aborted) leave();
      else reader.signal.addEventListener('abort', leave, { once: true });
      return body;
    } catch (error) {
      leave();
      throw error;
    }
  }
}
