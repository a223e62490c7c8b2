import pLimit from 'p-limit';

/** Half of the pool's connections: whoever waits for its turn here does not run into the pool's time limit. */
const maxAtOnce = 10;

/**
 * Bodies made of stored transcripts. Who asks for one that is just being made gets the same, so that a thousand clients
 * that are woken together, or a long transcript that many read, cost one reading and are in memory once.
 */
export class TranscriptBodies {
  readonly #making = new Map<string, Promise<string>>();
  readonly #inTurn = pLimit(maxAtOnce);

  /**
   * @param accountId the owner, who has just been found to own the session: bodies never cross accounts
   * @param tag the answer's ETag, which tells versions and formats apart
   */
  async of(accountId: string, sessionId: string, tag: string, make: () => Promise<string>): Promise<string> {
    const key = `${accountId}/${sessionId}/${tag}`;
    let body = this.#making.get(key);
    if (body === undefined) {
      body = this.#inTurn(make).finally(() => this.#making.delete(key));
      this.#making.set(key, body);
    }
    return body;
  }
}
