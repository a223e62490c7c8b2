/**
 * Remembers the owners of keys until something about access changes. A revocation, suspension, plan or limit change
 * takes effect in every process within a second: each process reads a change counter every 500 ms, and forgets all keys
 * when the counter moved. When it did not read the counter for a second, it does not use what it remembers: because the
 * database was away, or because nobody has asked for a while, and so it reads the counter seldom.
 */
import { hash } from 'node:crypto';
import { readAccessVersion } from '../../../db/access-changes.ts';
import { findKeyOwners } from '../../../db/api-keys.ts';
import { digestOf } from './api-key.ts';
import { GatheredReads } from '../reads/gathered-reads.ts';
import type { Db } from '../../../db/database.ts';
import type { KeyOwner } from '../../../db/api-keys.ts';

const pollMs = 500;
const trustMs = 1_000;
/** After this time without a request the counter is read no oftener than that, which keeps a connection open. */
const restMs = 10_000;
const maxEntries = 10_000;
/** Keys that are not remembered, of all accounts together: anybody may send many keys that do not exist. */
const lookUps = { maxEntries: 100, maxAtOnce: 2, accountOf: () => '' };

interface Entry {
  owner: KeyOwner;
  readAt: Moment;
}

/** By two clocks: one stands still while the machine sleeps, the other may be set back. */
interface Moment {
  steady: number;
  wall: number;
}

const now = (): Moment => ({ steady: performance.now(), wall: Date.now() });

/** ms, by the clock that says more. */
const passed = (since: Moment, until: Moment): number => Math.max(until.steady - since.steady, until.wall - since.wall);

export class KeyCache {
  readonly #db: Db;
  readonly #owners: GatheredReads<string, KeyOwner | undefined>;
  readonly #entries = new Map<string, Entry>();
  #version: number | undefined;
  /** Moves with every change, so that an owner that was read before a change is not remembered after it. */
  #generation = 0;
  #checkedAt: Moment = { steady: -Infinity, wall: -Infinity };
  #usedAt = -Infinity;
  /** Called after each look at the counter, which is read as often as under requests while there are any. */
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;

  constructor(db: Db) {
    this.#db = db;
    const find = (keys: string[]) => findKeyOwners(db, keys.map(digestOf));
    this.#owners = new GatheredReads(find, (key) => key, lookUps);
  }

  start(): void {
    this.#timer = setInterval(() => {
      const at = now();
      const isUsed = this.#listeners.size > 0 || at.steady - this.#usedAt < restMs;
      if (isUsed || passed(this.#checkedAt, at) >= restMs) this.#look();
    }, pollMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#polling;
  }

  /** Calls it every 500 ms, once what has changed is known here. @returns ends it */
  onLook(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The owner of a key that is valid now. */
  async ownerOf(apiKey: string): Promise<KeyOwner | undefined> {
    // As text, because a buffer and its text take three times as much memory. The key itself is not kept.
    const name = hash('sha256', apiKey, 'base64');
    const askedAt = now();
    this.#usedAt = askedAt.steady;
    const isTrusted = passed(this.#checkedAt, askedAt) < trustMs;
    const entry = this.#entries.get(name);
    if (entry !== undefined && isTrusted && passed(entry.readAt, askedAt) < (entry.owner.expires_in_ms ?? Infinity))
      return entry.owner;

    // So that the next request need not ask for its key.
    if (!isTrusted && this.#timer !== undefined) this.#look();
    const generation = this.#generation;
    const owner = await this.#owners.find(apiKey);
    if (owner === undefined) return undefined;
    if (generation === this.#generation) {
      if (this.#entries.size >= maxEntries) this.#entries.clear();
      this.#entries.set(name, { owner, readAt: askedAt });
    }
    return owner;
  }

  #look(): void {
    this.#polling ??= this.#readCounter().finally(() => (this.#polling = undefined));
  }

  async #readCounter(): Promise<void> {
    const askedAt = now();
    try {
      const version = await readAccessVersion(this.#db);
      if (version !== this.#version) {
        this.#entries.clear();
        this.#generation += 1;
        this.#version = version;
      }
      this.#checkedAt = askedAt;
      for (const listener of this.#listeners) listener();
    } catch {
      // The database is away: `#checkedAt` grows old, and every request asks it itself and is told so.
    }
  }
}
