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
const forgotten = 1.1;
/** Whisper takes 30 s at a time, so that less audio takes as long. */
const shortestHeardMs = 30_000;

/** A request that is under way. */
export interface Sent {
  readonly at: number;
  /** How many were under way with it. */
  readonly among: number;
}

export class ConcurrencyLimit {
  readonly #most: number;
  #count: number;
  #inFlight = 0;
  /** What was sent before tells nothing of the number that there is now. */
  #cutAt = -Infinity;
  /** The answers of this time around. */
  #seen = { answers: 0, among: 0, pace: 0, count: 0, mostInFlight: 0 };
  /** ms for each ms of audio, at best. */
  #quickest: number | undefined;
  /** Which number was too many last. */
  #tooMany = 0;
  #speed: number | undefined;

  /** @param most however quick the server gets */
  constructor(most: number) {
    this.#most = most;
    this.#count = Math.min(firstCount, most);
    this.#beginAround();
  }

  get count(): number {
    return this.#count;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** ms of audio heard per ms, as measured last. */
  get speed(): number | undefined {
    return this.#speed;
  }

  sent(now: number): Sent {
    this.#inFlight += 1;
    this.#seen.mostInFlight = Math.max(this.#seen.mostInFlight, this.#inFlight);
    return { at: now, among: this.#inFlight };
  }

  /** @param audioMs how much the server transcribed; undefined where the end tells nothing of the server */
  back({ at, among }: Sent, now: number, audioMs: number | undefined): void {
    this.#inFlight -= 1;
    if (audioMs === undefined || at < this.#cutAt) return;
    const pace = Math.max(1, now - at) / Math.max(audioMs, shortestHeardMs);
    // However many it works on: alone, the first would not have been heard later.
    this.#quickest ??= pace;
    const seen = this.#seen;
    seen.answers += 1;
    seen.among += among;
    seen.pace += pace;
    const mean = seen.pace / seen.answers;
    if (mean > slow * this.#quickest && seen.answers >= Math.max(fewestAnswers, seen.count / 4)) {
      this.#quickest *= forgotten;
      return this.#cut(fewer, now);
    }
    const isUsed = seen.mostInFlight >= 0.75 * seen.count;
    const isNearTooMany = seen.count <= this.#tooMany;
    if (isUsed && !isNearTooMany && this.#count < 2 * seen.count) this.#setCount(this.#count + 1);
    if (seen.answers < Math.max(fewestAnswers, seen.count)) return;
    if (isUsed && isNearTooMany) this.#setCount(this.#count + 1);
    this.#quickest = Math.min(this.#quickest, mean);
    this.#beginAround();
  }

  /** The server has no room, or took too long. */
  overloaded(sent: Sent, now: number): void {
    this.back(sent, now, undefined);
    if (sent.at >= this.#cutAt) this.#cut(half, now);
  }

  #cut(part: number, now: number): void {
    this.#tooMany = this.#count;
    this.#setCount(this.#count * part);
    this.#cutAt = now;
    this.#beginAround();
  }

  #setCount(count: number): void {
    this.#count = Math.min(this.#most, Math.max(1, Math.floor(count)));
  }

  #beginAround(): void {
    const { answers, among, pace } = this.#seen;
    // By Little's law: as many as are under way, divided by the time that each of them takes.
    if (answers > 0) this.#speed = among / pace;
    this.#seen = { answers: 0, among: 0, pace: 0, count: this.#count, mostInFlight: this.#inFlight };
  }
}
