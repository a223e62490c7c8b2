/** Fewer requests at once are taken for as quick when the server hears this part of what it heard with one more. */
const asQuick = 0.9;

/** For so many measurements the number stays. Then it is looked for anew: a server may get room, or lose it. */
const restsFor = 8;

/**
 * How many requests a server gets at once: the fewest with which it hears as quickly as with more. A server that works
 * on one at a time gets one, so that the others don't wait there, but here, where a short recording may pass them.
 *
 * It begins with one more than the number in use, and takes one away for as long as that costs no speed.
 */
export class AtOnce {
  readonly #most: number;
  #count: number;
  #speedWithOneMore: number | undefined;
  #restsFor = 0;

  /** @param most at once, with which it begins */
  constructor(most: number) {
    this.#most = most;
    this.#count = most;
  }

  get count(): number {
    return this.#count;
  }

  /** Takes how quickly the server heard while it had `count` requests: ms of audio per ms. */
  measured(speed: number): void {
    if (this.#restsFor === 0) return this.#compare(speed);
    this.#restsFor -= 1;
    if (this.#restsFor === 0) this.#count = Math.min(this.#most, this.#count + 1);
  }

  #compare(speed: number): void {
    const isSlower = this.#speedWithOneMore !== undefined && speed < asQuick * this.#speedWithOneMore;
    this.#speedWithOneMore = speed;
    if (!isSlower && this.#count > 1) {
      this.#count -= 1;
      return;
    }
    if (isSlower) this.#count += 1;
    this.#speedWithOneMore = undefined;
    this.#restsFor = restsFor;
  }
}
