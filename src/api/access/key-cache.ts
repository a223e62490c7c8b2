/**
 * Remembers the owner of a key for a second from before it was read. So a revocation, suspension, plan or limit change
 * takes effect in every process within a second. A key that is in use is read again after half of that, so that no
 * request waits for it.
 */
import { hash } from 'node:crypto';
import { findKeyOwners } from '../../../db/accounts/api-keys.ts';
import { digestOf } from './api-key.ts';
import { Loader } from '../loader.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { KeyOwner } from '../../../db/accounts/api-keys.ts';

const lifeMs = 1_000;
const refreshMs = 500;
const maxEntries = 10_000;
/** Keys are looked up for all accounts together: anybody may send many keys that do not exist. */
const lookUps = { maxBatchSize: 100, maxAtOnce: 2, accountOf: () => '', cacheKeyOf: (key: string) => key };

interface Entry {
  owner: KeyOwner;
  readAt: Moment;
  /** Whether it has been read again, or is. */
  isRefreshed: boolean;
}

/** By two clocks: one stands still while the machine sleeps, the other may be set back. */
interface Moment {
  steady: number;
  wall: number;
}

const now = (): Moment => ({ steady: performance.now(), wall: Date.now() });

/** ms until now, by the clock that says more. */
function ageOf({ readAt }: Entry): number {
  const { steady, wall } = now();
  return Math.max(steady - readAt.steady, wall - readAt.wall);
}

export class KeyCache {
  readonly #owners: Loader<string, KeyOwner | undefined>;
  readonly #entries = new Map<string, Entry>();
  /** Each reads a key of a request that is held. */
  readonly #held = new Set<() => void>();
  /** Runs while there are any. */
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Db) {
    this.#owners = new Loader((keys) => findKeyOwners(db, keys.map(digestOf)), lookUps);
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

  async #read(apiKey: string): Promise<KeyOwner | undefined> {
    const readAt = now();
    const owner = await this.#owners.load(apiKey);
    if (this.#entries.size >= maxEntries) this.#entries.clear();
    if (owner === undefined) this.#entries.delete(nameOf(apiKey));
    else this.#entries.set(nameOf(apiKey), { owner, readAt, isRefreshed: false });
    return owner;
  }
}

/** As text, because a buffer and its text take three times as much memory. The key itself is not kept. */
const nameOf = (apiKey: string) => hash('sha256', apiKey, 'base64');
