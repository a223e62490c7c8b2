/**
 * The audio store of this database, and no other: it is proven before each call. So nothing is written to a
 * folder below a mount point, nothing counts as lost that lies on another disk, and no sweep removes what is another
 * database's.
 */
import { AudioStoreAway, AudioUnreadable } from './audio-store.ts';
import { proveStore } from './known-store.ts';
import { FileAudioStore } from './file-audio-store.ts';
import type { Db } from '../../db/connection/database.ts';
import type { AudioStore, BareAudioStore, StoredAudio, WantedAudio } from './audio-store.ts';
import type { Config } from '../config/config.ts';

/** What the store is asked for, of what it takes no longer than that. */
export type StoreCall = Exclude<keyof AudioStore, 'fetchesCopies' | 'list'>;
/** Why a call failed: the store itself, or what it has of one session. */
export type StoreError = 'away' | 'unreadable';

/** Is told of each call when it has ended, and why it failed, unless that is no fault of the store. */
export type OnCalled = (call: StoreCall, seconds: number, error: StoreError | undefined) => void;

export class OwnAudioStore implements AudioStore {
  readonly fetchesCopies: boolean;
  /** Why the last `put` failed, where only the operator can put that right. */
  whyNoPuts: string | undefined;
  readonly #db: Db;
  readonly #store: BareAudioStore;
  readonly #onCalled: OnCalled;
  #mark: string | undefined;
  #provenAt = -Infinity;

  constructor(db: Db, store: BareAudioStore, onCalled: OnCalled = () => {}) {
    this.#db = db;
    this.#store = store;
    this.#onCalled = onCalled;
    this.fetchesCopies = store.fetchesCopies;
  }

  open(): Promise<void> {
    return this.#call('open', () => this.#store.open());
  }

  async put(file: string, accountId: string, sessionId: string): Promise<void> {
    await this.#call('put', async () => {
      try {
        await this.#store.put(file, accountId, sessionId);
        this.whyNoPuts = undefined;
      } catch (error) {
        if (error instanceof AudioStoreAway) this.whyNoPuts = error.message;
        throw error;
      }
    });
  }

  fetch(accountId: string, sessionId: string, wanted: WantedAudio): Promise<string> {
    return this.#call('fetch', () => this.#store.fetch(accountId, sessionId, wanted));
  }

  exists(accountId: string, sessionId: string): Promise<boolean> {
    return this.#call('exists', () => this.#store.exists(accountId, sessionId));
  }

  remove(accountId: string, sessionId: string): Promise<void> {
    return this.#call('remove', () => this.#store.remove(accountId, sessionId));
  }

  removeAccount(accountId: string): Promise<void> {
    return this.#call('removeAccount', () => this.#store.removeAccount(accountId));
  }

  async *list(onUnreadable?: (error: unknown) => void): AsyncGenerator<StoredAudio> {
    await this.#prove();
    yield* this.#store.list(onUnreadable);
  }

  endAbandonedPuts(): Promise<void> {
    return this.#call('endAbandonedPuts', () => this.#store.endAbandonedPuts());
  }

  checkReadable(): Promise<void> {
    return this.#call('checkReadable', () => this.#store.checkReadable());
  }

  async #call<T>(call: StoreCall, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const tell = (error?: StoreError) => this.#onCalled(call, (performance.now() - began) / 1000, error);
    try {
      await this.#prove();
      const answer = await work();
      tell();
      return answer;
    } catch (error) {
      tell(kindOf(error));
      throw error;
    }
  }

  async #prove(): Promise<void> {
    const now = performance.now();
    if (now - this.#provenAt < this.#store.markHoldsMs) return;
    const found = await this.#store.readMark();
    if (found === undefined || found !== this.#mark) this.#mark = await proveStore(this.#db, this.#store);
    this.#provenAt = now;
  }
}

function kindOf(error: unknown): StoreError | undefined {
  if (error instanceof AudioStoreAway) return 'away';
  return error instanceof AudioUnreadable ? 'unreadable' : undefined;
}

type Named = Pick<Config, 'objectPlace' | 'dataDir'>;

/** The store of the settings, once it is proven to be the database's. */
export async function selectAudioStore(config: Named, db: Db, onCalled?: OnCalled): Promise<OwnAudioStore> {
  return new OwnAudioStore(db, await bareAudioStore(config), onCalled);
}

/** Only who keeps audio in an object store loads its client: that takes a second, and 40 MB of memory. */
export async function bareAudioStore({ objectPlace, dataDir }: Named): Promise<BareAudioStore> {
  if (objectPlace === undefined) return new FileAudioStore(dataDir);
  const { S3AudioStore } = await import('./s3/s3-audio-store.ts');
  return new S3AudioStore(objectPlace);
}
