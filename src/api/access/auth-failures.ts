/**
 * Slows down clients that guess keys. After some 401s in a minute, each further 401 to the same address is delayed by a
 * second, and its connection is closed. At most 100 of them wait at a time. A valid key is never delayed because of its
 * address.
 */
import { networkOf } from './networks.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';

const minuteMs = 60_000;
const delayMs = 1_000;
const maxHeld = 100;
/** With more addresses in a minute, the rest share one count, so that memory stays bounded. */
const maxAddresses = 10_000;

export class AuthFailures {
  readonly #perMinute: number;
  readonly #log: Log;
  readonly #metrics: Metrics;
  #counts = new Map<string, number>();
  /** Runs while there is anything to count. */
  #minute: NodeJS.Timeout | undefined;
  #held = 0;
  #delayed = 0;

  constructor(perMinute: number, log: Log, metrics: Metrics) {
    this.#perMinute = perMinute;
    this.#log = log;
    this.#metrics = metrics;
  }

  /** Counts a 401, and waits if it is to be slow. @returns whether its connection is to be closed */
  async count(address: string): Promise<boolean> {
    this.#minute ??= setTimeout(() => this.#turnMinute(), minuteMs).unref();
    const known = networkOf(address);
    const network = this.#counts.has(known) || this.#counts.size < maxAddresses ? known : 'others';
    const failures = (this.#counts.get(network) ?? 0) + 1;
    this.#counts.set(network, failures);
    if (failures <= this.#perMinute) return false;

    this.#delayed += 1;
    this.#metrics.delayedAuthFailures.inc();
    if (this.#held >= maxHeld) return true;
    this.#held += 1;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    this.#held -= 1;
    return true;
  }

  #turnMinute(): void {
    if (this.#delayed > 0) {
      this.#log.warn({ delayed: this.#delayed, addresses: this.#counts.size }, 'invalid keys were slowed down');
    }
    this.#counts = new Map();
    this.#delayed = 0;
    this.#minute = undefined;
  }
}
