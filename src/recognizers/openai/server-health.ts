/** What proxies answer for a server that is away, and servers that start or stop (RFC 9110, sections 15.6.3 to 15.6.5). */
const away = new Set([502, 503, 504]);

/**
 * What the last requests tell of whether a server is there, and whether it hears anybody. Recordings (POST) tell most: a
 * gateway may answer everything else by itself, or know nothing else.
 */
export class ServerHealth {
  /** How many recordings the server itself has said something about, if only that it has no time. */
  answers = 0;
  #silence: unknown;
  #unheard: unknown;
  #refusal: unknown;

  /** A request got no answer. */
  silent(method: string, reason: unknown): void {
    this.#silence = reason;
    if (method !== 'POST') return;
    this.#unheard = reason;
    this.#refusal = undefined;
  }

  answered(method: string, status: number): void {
    this.#silence = undefined;
    if (method !== 'POST') return;
    this.#refusal = undefined;
    this.#unheard = away.has(status) ? `it answered ${status}` : undefined;
    if (this.#unheard === undefined) this.answers += 1;
  }

  /** A recording was refused, as every other one would be, until the operator has done something. */
  refused(refusal: unknown): void {
    this.#refusal = refusal;
    this.#unheard = undefined;
  }

  /** What only the operator can put right, as the last recording showed. */
  get refusal(): unknown {
    return this.#refusal;
  }

  /** Why nobody heard the last recording; undefined when somebody did, or said anything about it. */
  get unheard(): unknown {
    return this.#unheard;
  }

  /** Why the last request got no answer of the server itself; undefined when there was one since. */
  get missing(): unknown {
    return this.#unheard ?? this.#silence;
  }
}
