/** Whisper hears 30 s at a time, so that less audio takes as long. */
const shortestHeardMs = 30_000;

/** How quickly a server hears while so many requests wait for it: measured over a few answers. */
export class Pace {
  readonly #atOnce: number;
  readonly #beganAt = performance.now();
  /** Requests × ms that were waited until `#countedAt`. */
  #waitedMs = 0;
  #countedAt = this.#beganAt;
  /** Answers that come sooner than later ones: nobody was in line before them. */
  #firstLeft: number;
  #left: number;
  #audioMs = 0;
  #tookMs = 0;

  /** @param atOnce how many requests wait, as long as there is enough to do */
  constructor(atOnce: number) {
    this.#atOnce = atOnce;
    this.#firstLeft = atOnce;
    this.#left = 2 * atOnce;
  }

  /** Whether enough answers came. */
  get isMeasured(): boolean {
    return this.#left === 0;
  }

  /** ms of audio per ms; undefined where another number of requests waited, because there was less to do. */
  get speed(): number | undefined {
    const waiting = this.#waitedMs / (this.#countedAt - this.#beganAt);
    // By Little's law: as many requests as wait, divided by the time that each of them waits.
    return Math.abs(waiting - this.#atOnce) > 0.5 ? undefined : (this.#atOnce * this.#audioMs) / this.#tookMs;
  }

  /** Takes that so many requests waited until now. */
  waited(requests: number): void {
    const now = performance.now();
    this.#waitedMs += requests * (now - this.#countedAt);
    this.#countedAt = now;
  }

  /** Takes an answer that came now. @param sentAt as of `performance.now()` */
  answered(sentAt: number, audioMs: number): void {
    if (sentAt < this.#beganAt || this.isMeasured) return;
    if (this.#firstLeft > 0) {
      this.#firstLeft -= 1;
      return;
    }
    this.#left -= 1;
    this.#audioMs += Math.max(audioMs, shortestHeardMs);
    this.#tookMs += performance.now() - sentAt;
  }
}
