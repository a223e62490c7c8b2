/**
 * The audio store of this database, and no other: it is proven before each call. So nothing is written to a
 * folder below a mount point, nothing counts as lost that lies on another disk, and no sweep removes what is another
 * database's.
 */
import { AudioStoreAway } from './audio-store.ts';
import { proveStore } from './known-store.ts';
import type { Db } from '../../db/database.ts';
import type { AudioStore, BareAudioStore, StoredAudio, WantedAudio } from './audio-store.ts';

export class OwnAudioStore implements AudioStore {
  readonly fetchesCopies: boolean;
  /** Why the last `put` failed, where only the operator can put that right. */
  whyNoPuts: string | undefined;
  readonly #db: Db;
  readonly #store: BareAudioStore;
  #mark: string | undefined;
  #provenAt = -Infinity;

  constructor(db: Db, store: BareAudioStore) {
    this.#db = db;
    this.#store = store;
    this.fetchesCopies = store.fetchesCopies;
  }

  async open(): Promise<void> {
    await this.#prove();
    await this.#store.open();
  }

  async put(file: string, accountId: string, sessionId: string): Promise<void> {
    await this.#prove();
    try {
      await this.#store.put(file, accountId, sessionId);
      this.whyNoPuts = undefined;
    } catch (error) {
      if (error instanceof AudioStoreAway) this.whyNoPuts = error.message;
      throw error;
    }
  }

  async fetch(accountId: string, sessionId: string, wanted: WantedAudio): Promise<string> {
    await this.#prove();
    return this.#store.fetch(accountId, sessionId, wanted);
  }

  async exists(accountId: string, sessionId: string): Promise<boolean> {
    await this.#prove();
    return this.#store.exists(accountId, sessionId);
  }

  async remove(accountId: string, sessionId: string): Promise<void> {
    await this.#prove();
    await this.#store.remove(accountId, sessionId);
  }

  async removeAccount(accountId: string): Promise<void> {
    await this.#prove();
    await this.#store.removeAccount(accountId);
  }

  async *list(onUnreadable?: (error: unknown) => void): AsyncGenerator<StoredAudio> {
    await this.#prove();
    yield* this.#store.list(onUnreadable);
  }

  async endAbandonedPuts(): Promise<void> {
    await this.#prove();
    await this.#store.endAbandonedPuts();
  }

  async checkReadable(): Promise<void> {
    await this.#prove();
    await this.#store.checkReadable();
  }

  async #prove(): Promise<void> {
    const now = performance.now();
    if (now - this.#provenAt < this.#store.markHoldsMs) return;
    const found = await this.#store.readMark();
    if (found === undefined || found !== this.#mark) this.#mark = await proveStore(this.#db, this.#store);
    this.#provenAt = now;
  }
}
