import { FairTurns } from '../fair-turns.ts';

/** Each may be many megabytes, and those with words take a connection: half of the pool, and of that half for one account. */
const limits = { atOnce: 10, each: 5 };
/** In characters. What is longer takes a while to send. */
const longFrom = 256 * 1024;

interface Shared {
  body: Promise<string>;
  /** Who waits for it, or is being sent it. */
  readers: number;
}

/**
 * Bodies made of stored transcripts. Who asks for one that is just being made gets the same, and who asks for a long
 * one that somebody is still being sent: a thousand clients that are woken together, or that read a long transcript
 * slowly, cost one reading and are in memory once.
 */
export class TranscriptBodies {
  /** No map: see {@link Batches}. */
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
