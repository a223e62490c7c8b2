/**
 * How many requests a server gets at once, so that what waits, waits here, where a short recording may pass a long one:
 * one more after each that went well, and near the number that was too many last, one more each time around; a third
 * fewer where answers take half as long again as they could, and half as many where the server refuses, or takes too
 * long. It knows no clock but its caller's.
 */

const firstCount = 8;
const slow = 1.5;
const [half, fewer] = [0.5, 0.65];
/** Of fewer answers, chance tells more than the server. */
const fewestAnswers = 6;
/** What is quickest may have been chance, or the server is another one now: each time that it leads to fewer, it counts less. */
const forgotten = 1.05;
/** Whisper takes 30 s at a time, so that less audio takes as long. */
const shortestHeardMs = 30_000;

/** A request that is under way. */
export type Sent = ReturnType<ConcurrencyLimit['sent']>;

export class ConcurrencyLimit {
  readonly #most: number;
  /** With the parts that make one more. */
  #count: number;
  #inFlight = 0;
  /** What was sent before tells nothing of the number that there is now. */
  #cutAt = -Infinity;
  /** Answers since then, and how long they took lately: ms for each ms of audio, the mean of about one time around. */
  #answers = 0;
  #pace = 0;
  /** The same, at best. */
  #quickest = Infinity;
  /** Which number was too many last. */
  #tooMany = 0;
  #speed: number | undefined;

  /** @param most however quick the server gets */
  constructor(most: number) {
    this.#most = most;
    this.#count = Math.min(firstCount, most);
  }

  get count(): number {
    return Math.floor(this.#count);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** ms of audio heard per ms, as measured last. */
  get speed(): number | undefined {
    return this.#speed;
  }

  /** @returns when it was sent, and how many are under way with it */
  sent(now: number) {
    this.#inFlight += 1;
    return { at: now, among: this.#inFlight };
  }

  /** @param audioMs how much the server heard; undefined where the end tells nothing of the server */
  back({ at, among }: Sent, now: number, audioMs: number | undefined): void {
    const isUsed = this.#inFlight >= 0.75 * this.count;
    this.#inFlight -= 1;
    if (audioMs === undefined || at < this.#cutAt) return;
    const pace = Math.max(1, now - at) / Math.max(audioMs, shortestHeardMs);
    // However many it works on: alone, the first would not have been heard later.
    if (this.#quickest === Infinity) this.#quickest = pace;
    this.#answers += 1;
    const enough = Math.max(fewestAnswers, this.#count / 4);
    this.#pace += (pace - this.#pace) / Math.min(this.#answers, enough);
    // By Little's law: as many as are under way, divided by the time that each of them takes.
    this.#speed = among / this.#pace;
    if (this.#answers >= enough) {
      if (this.#pace > slow * this.#quickest) {
        this.#quickest *= forgotten;
        return this.#cut(fewer, now);
      }
      this.#quickest = Math.min(this.#quickest, this.#pace);
    }
    if (!isUsed) return;
    const isNearTooMany = this.#count <= this.#tooMany;
    this.#count = Math.min(this.#most, this.#count + (isNearTooMany ? 1 / Math.max(fewestAnswers, this.#count) : 1));
  }

  /** The server has no room, or took too long. */
  overloaded(sent: Sent, now: number): void {
    this.back(sent, now, undefined);
    if (sent.at >= this.#cutAt) this.#cut(half, now);
  }

  #cut(part: number, now: number): void {
    this.#tooMany = this.#count;
    this.#count = Math.max(1, Math.floor(this.#count * part));
    this.#cutAt = now;
    [this.#answers, this.#pace] = [0, 0];
  }
}
