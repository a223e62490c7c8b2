/**
 * Remembers the owner of a key for a second from before it was read. So a revocation, suspension, plan or limit change
 * takes effect in every process within a second. A key that is in use is read again after half of that, so that no
 * request waits for it.
 */
import { hash } from 'node:crypto';
import { findKeyOwner } from '../../../db/accounts/api-keys.ts';
import { digestOf } from './api-key.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { KeyOwner } from '../../../db/accounts/api-keys.ts';

const lifeMs = 1_000;
const refreshMs = 500;
const maxEntries = 10_000;

interface Entry {
  owner: KeyOwner;
  readAt: Moment;
  /** Whether it has been read again, or is. */
  isRefreshed: boolean;
}

interface Reading {
  owner: Promise<KeyOwner | undefined>;
  readAt: Moment;
}

type Moment = ReturnType<typeof now>;

/** By two clocks: one stands still while the machine sleeps, the other may be set back. */
const now = () => ({ steady: performance.now(), wall: Date.now() });

/** ms until now, by the clock that says more. */
function ageOf({ readAt }: Pick<Entry, 'readAt'>): number {
  const { steady, wall } = now();
  return Math.max(steady - readAt.steady, wall - readAt.wall);
}

export class KeyCache {
  readonly #db: Db;
  /** Readings under way, which requests with the same key share. */
  readonly #readings = new Map<string, Reading>();
  readonly #entries = new Map<string, Entry>();
  /** Each reads a key of a request that is held. */
  readonly #held = new Set<() => void>();
  /** Runs while there are any. */
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Db) {
    this.#db = db;
  }

  /** The owner of a key that is valid, or was less than a second ago. */
  async ownerOf(apiKey: string): Promise<KeyOwner | undefined> {
    const entry = this.#entries.get(nameOf(apiKey));
    if (entry === undefined) return this.#read(apiKey);
    const age = ageOf(entry);
    if (age >= Math.min(lifeMs, entry.owner.expires_in_ms ?? Infinity)) return this.#read(apiKey);
    if (age >= refreshMs && !entry.isRefreshed) {
      entry.isRefreshed = true;
      // While the database is away, the entry grows old, and every request asks the database itself and is told so.
      this.#read(apiKey).catch(() => {});
    }
    return entry.owner;
  }

  /** Reads a key every 500 ms, and tells its owner, until `end` aborts. */
  watch(apiKey: string, onRead: (owner: KeyOwner | undefined) => void, end: AbortSignal): void {
    if (end.aborted) return;
    // While the database is away, nothing is known.
    const look = () => void this.#read(apiKey).then(onRead, () => {});
    this.#held.add(look);
    this.#timer ??= setInterval(() => this.#lookAtAll(), refreshMs).unref();
    end.addEventListener('abort', () => this.#held.delete(look), { once: true });
  }

  #lookAtAll(): void {
    for (const look of this.#held) look();
    if (this.#held.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #read(apiKey: string): Promise<KeyOwner | undefined> {
    const name = nameOf(apiKey);
    const known = this.#readings.get(name);
    if (known !== undefined && ageOf(known) < refreshMs) return known.owner;
    const readAt = now();
    const reading = { owner: this.#readNow(apiKey, name, readAt), readAt };
    this.#readings.set(name, reading);
    const forget = () => this.#readings.get(name) === reading && this.#readings.delete(name);
    reading.owner.then(forget, forget);
    return reading.owner;
  }

  async #readNow(apiKey: string, name: string, readAt: Moment): Promise<KeyOwner | undefined> {
    const owner = await findKeyOwner(this.#db, digestOf(apiKey));
    if (this.#entries.size >= maxEntries) this.#entries.clear();
    if (owner === undefined) this.#entries.delete(name);
    else this.#entries.set(name, { owner, readAt, isRefreshed: false });
    return owner;
  }
}

/** As text, because a buffer and its text take three times as much memory. The key itself is not kept. */
const nameOf = (apiKey: string) => hash('sha256', apiKey, 'base64');
