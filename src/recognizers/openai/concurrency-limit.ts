/**
 * How many requests a server gets at once, found by trying: as few as it hears as quickly with as with more. So what
 * waits, waits here, where a short recording may pass a long one. It knows no clock but its caller's.
 */
import { measuredIn, nothingSeen } from './measured.ts';
import type { Measured, Sent } from './measured.ts';

const firstCount = 16;
/** First tries, and those after one that was worth it. Others are smaller, and every second one smaller still. */
const twice = 2;
const tries = [1.5, 1.25];
const [half, threeQuarters] = [0.5, 0.75];
/** More is worth it when it brings a quarter of what it could. */
const worthIt = 0.35;
/** Fewer do as well while this part of the speed stays. */
const asQuick = 0.9;
/** With less, the server has lost room. */
const lost = 0.7;
/** A request tells how quickly so many are heard when at least this part of them was under way with it. */
const full = 0.75;
/** Of fewer at once, a first search learns nothing. */
const fewest = 4;
/** Whisper hears 30 s at a time, so that less audio takes as long. */
const shortestHeardMs = 30_000;
/**
 * How often a number that was found is measured before more is tried: twice as often after each try in vain, but not below half
 * of what a server had before it refused some. A try costs most where few do: beside one, the second is a whole request that
 * waits at the server.
 */
const rests = { fewest: 2, most: 8, mostOfOne: 32, longestMs: 600_000 };

type Search = 'first' | 'more' | 'fewer' | 'rest';

export class ConcurrencyLimit {
  readonly #most: number;
  #count: number;
  #inFlight = 0;
  #seen = nothingSeen();
  #search: Search = 'first';
  /** What is known to do well. */
  #good: (Measured & { limit: number }) | undefined;
  /** How quickly a request alone is heard, at least. */
  #alone = 0;
  #inVain = 0;
  /** Whether the last measurement was of a server that has lost room: it may have been chance. */
  #doubts = false;
  /** What it had before the server refused some, and until when that tells. */
  #before = { limit: 0, endsAt: -Infinity };
  #rest = { left: 0, endsAt: 0 };
  #cutAt = -Infinity;

  /** @param most however quick the server gets */
  constructor(most: number) {
    this.#most = most;
    this.#count = Math.min(firstCount, most);
  }

  get count(): number {
    return this.#count;
  }

  /** The server is of a kind that works on one at a time. More are tried all the same: there may be several of them. */
  beginWithOne(): void {
    if (this.#alone === 0) this.#go('first', 1);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** ms of audio heard per ms, as measured last. */
  get speed(): number | undefined {
    return this.#good?.speed;
  }

  sent(now: number): Sent {
    this.#inFlight += 1;
    const isFull = this.#inFlight >= full * this.#count;
    return { seen: this.#seen, at: now, among: this.#inFlight, isFull };
  }

  /** @param audioMs how much the server heard; undefined where the end tells nothing of the server */
  back({ seen, at, among, isFull }: Sent, now: number, audioMs: number | undefined): void {
    const atEnd = this.#inFlight;
    this.#inFlight -= 1;
    if (audioMs === undefined || seen !== this.#seen) return;
    const heardMs = Math.max(audioMs, shortestHeardMs);
    const tookMs = Math.max(1, now - at);
    // However many it works on: alone, the first would not have been heard later.
    this.#alone ||= heardMs / tookMs;
    this.#good ??= { limit: 1, count: 1, speed: this.#alone };
    // Of fewer it tells, too, as long as they stay as many: a serial server may never be asked for more than ten.
    const isSteady = this.#search === 'first' && among >= fewest && Math.abs(atEnd - among) <= among / 4;
    if (!isFull && !isSteady) return;
    seen.answers += 1;
    seen.waitedMs += among * tookMs;
    seen.tookMs += tookMs;
    seen.audioMs += heardMs;
    const least = this.#search === 'rest' ? 2 : 4;
    const enough = this.#search === 'first' ? Math.max(3, this.#count / 4) : Math.max(least, this.#count);
    const measured = measuredIn(seen);
    // A try ends early where it shows nothing.
    const isInVain = this.#search === 'more' && 2 * seen.answers >= enough && !this.#isWorth(measured);
    if (seen.answers >= enough || isInVain) this.#measured(measured, now);
  }

  /** The server has no room, or took too long. What was sent before the last time counts no more. */
  overloaded(sent: Sent, now: number): void {
    this.back(sent, now, undefined);
    if (sent.at < this.#cutAt) return;
    this.#cutAt = now;
    if (now >= this.#before.endsAt) this.#before = { limit: this.#count, endsAt: now + rests.longestMs };
    const limit = Math.max(1, Math.floor(this.#count * half));
    const wasMore = this.#search === 'more';
    if (wasMore) this.#inVain += 1;
    // What did well is kept when more was refused.
    if (!wasMore || this.#good!.limit < limit) this.#good = { limit, count: limit, speed: 0 };
    this.#settle(now);
  }

  #measured(measured: Measured, now: number): void {
    if (this.#search === 'first' || this.#search === 'more') this.#triedMore(measured, now);
    else if (this.#search === 'fewer') this.#triedFewer(measured, now);
    else this.#rested(measured, now);
  }

  #isWorth({ count, speed }: Measured): boolean {
    const good = this.#good!;
    return speed >= good.speed * (1 + worthIt * (count / good.count - 1));
  }

  #triedMore(measured: Measured, now: number): void {
    if (this.#isWorth(measured)) {
      this.#good = { ...measured, limit: this.#count };
      this.#inVain = 0;
      if (this.#count === this.#most) return this.#settle(now);
      // All that there was to do was heard as quickly: more can't be tried.
      if (measured.count < full * this.#count) return this.#go(this.#search, this.#count);
      return this.#go(this.#search, this.#count * twice);
    }
    const { limit, speed } = this.#good!;
    const heardAtOnce = Math.ceil(Math.max(speed, measured.speed) / this.#alone);
    if (this.#search === 'first' && heardAtOnce < threeQuarters * limit) return this.#go('fewer', heardAtOnce);
    this.#inVain += 1;
    this.#settle(now);
  }

  #triedFewer(measured: Measured, now: number): void {
    const { limit, speed } = this.#good!;
    if (measured.speed >= asQuick * speed) {
      this.#good = { limit: this.#count, count: measured.count, speed: Math.max(measured.speed, speed) };
      return this.#count === 1 ? this.#settle(now) : this.#go('fewer', this.#count * half);
    }
    const between = Math.floor(limit * threeQuarters);
    if (between > this.#count) this.#go('fewer', between);
    else this.#settle(now);
  }

  #rested(measured: Measured, now: number): void {
    const { speed } = this.#good!;
    const hasLost = measured.speed < lost * speed && this.#count > 1;
    this.#doubts = hasLost && !this.#doubts;
    if (this.#doubts) return this.#go('rest', this.#count);
    const before = speed === 0 || hasLost ? measured.speed : speed;
    this.#good = { ...measured, limit: this.#count, speed: (3 * before + measured.speed) / 4 };
    this.#rest.left -= 1;
    if (hasLost) return this.#go('fewer', this.#count * half);
    if (this.#rest.left > 0 && now < this.#rest.endsAt) return this.#go('rest', this.#count);
    if (this.#count === this.#most) return this.#settle(now);
    const by = this.#isBelow(now) ? twice : tries[this.#inVain % tries.length]!;
    this.#go('more', Math.ceil(this.#count * by));
  }

  /** Whether what does well is at most half of what did before the server refused some. */
  #isBelow(now: number): boolean {
    return now < this.#before.endsAt && this.#good!.limit <= this.#before.limit * half;
  }

  /** Keeps what is known to do well, for some time. */
  #settle(now: number): void {
    const { limit } = this.#good!;
    const most = this.#isBelow(now) ? rests.fewest : Math.max(rests.most, rests.mostOfOne / limit);
    this.#rest = { left: Math.min(rests.fewest * 2 ** this.#inVain, most), endsAt: now + rests.longestMs };
    this.#go('rest', limit);
  }

  #go(search: Search, count: number): void {
    const before = this.#count;
    this.#search = search;
    this.#count = Math.min(this.#most, Math.max(1, Math.floor(count)));
    if (this.#count === before) Object.assign(this.#seen, nothingSeen());
    else this.#seen = nothingSeen();
  }
}
