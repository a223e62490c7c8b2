/**
 * The audio store of this database, and no other: both hold the same id, which is read before each call. A disk that is
 * not mounted has none, and another bucket has another. So nothing is written to a folder below a mount point, nothing
 * counts as lost that lies on another disk, and no sweep removes what is another database's.
 */
import { randomUUID } from 'node:crypto';
import { confirmStoreId, findKnownStore, proposeStoreId } from '../../db/known-store.ts';
import { AudioStoreUnavailable, AudioStoreLost, AudioUnreadable } from './audio-store.ts';
import { FileAudioStore } from './file-audio-store.ts';
import type { Db, Queryable } from '../../db/connection/database.ts';
import type { AudioStore, AudioStoreBackend, StoredAudio, WantedAudio } from './audio-store.ts';
import type { Config } from '../config/config.ts';

/** What the store is asked for, of what it takes no longer than that. */
export type StoreCall = Exclude<keyof AudioStore, 'fetchesCopies' | 'list'>;
/** Why a call failed: the store itself, or what it has of one session. */
export type StoreError = 'away' | 'unreadable';

/** Called after each call of the store, and why it failed, unless that is no fault of the store. */
export type OnCalled = (call: StoreCall, seconds: number, error: StoreError | undefined) => void;

export class VerifiedAudioStore implements AudioStore {
  readonly fetchesCopies: boolean;
  /** Why the last `put` failed, where only the operator can fix it. */
  whyNoPuts: string | undefined;
  readonly #db: Db;
  readonly #store: AudioStoreBackend;
  readonly #onCalled: OnCalled;
  #storeId: string | undefined;
  #provenAt = -Infinity;

  constructor(db: Db, store: AudioStoreBackend, onCalled: OnCalled = () => {}) {
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
        if (error instanceof AudioStoreUnavailable) this.whyNoPuts = error.message;
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
    if (now - this.#provenAt < this.#store.storeIdValidMs) return;
    const found = await this.#store.readStoreId();
    if (found === undefined || found !== this.#storeId) this.#storeId = await verifyStore(this.#db, this.#store);
    this.#provenAt = now;
  }
}

function kindOf(error: unknown): StoreError | undefined {
  if (error instanceof AudioStoreUnavailable) return 'away';
  return error instanceof AudioUnreadable ? 'unreadable' : undefined;
}

type Named = Pick<Config, 'objectPlace' | 'dataDir'>;

/** The store of the settings, once it is proven to be the database's. */
export async function selectAudioStore(config: Named, db: Db, onCalled?: OnCalled): Promise<VerifiedAudioStore> {
  return new VerifiedAudioStore(db, await audioStoreBackend(config), onCalled);
}

/** Only who keeps audio in an object store loads its client: that takes a second, and 40 MB of memory. */
export async function audioStoreBackend({ objectPlace, dataDir }: Named): Promise<AudioStoreBackend> {
  if (objectPlace === undefined) return new FileAudioStore(dataDir);
  const { S3AudioStore } = await import('./s3/s3-audio-store.ts');
  return new S3AudioStore(objectPlace);
}

/**
 * Makes sure that the store is the database's. Before the database knows one, as at the first start, the store is given an id.
 *
 * @returns the id
 * @throws {AudioStoreLost}
 */
export async function verifyStore(db: Queryable, store: AudioStoreBackend): Promise<string> {
  // A process that gives a store its id writes the id into the database before, and confirms it there afterwards.
  let found = await store.readStoreId();
  const known = await findKnownStore(db);
  if (known?.is_written) found = await store.readStoreId();
  if (known?.is_written || found !== undefined) {
    if (known?.store_id !== found) throw new AudioStoreLost(mismatchMessage(store, found));
    await confirmStoreId(db, known!.store_id);
    return known!.store_id;
  }
  await proposeStoreId(db, randomUUID());
  return writeStoreId(db, store);
}

/**
 * From now on this store is the database's, and the former id no longer counts. Services of another database that used the
 * store stand still.
 */
export async function adoptStore(db: Queryable, store: AudioStoreBackend): Promise<string> {
  await proposeStoreId(db, randomUUID(), true);
  return writeStoreId(db, store);
}

/** Why the store is not the database's, as a sentence; undefined when it is, or has no id yet. It changes nothing. */
export async function storeMismatch(db: Queryable, store: AudioStoreBackend): Promise<string | undefined> {
  const found = await store.readStoreId();
  const known = await findKnownStore(db);
  return found === known?.store_id || (found === undefined && !known!.is_written)
    ? undefined
    : mismatchMessage(store, found);
}

async function writeStoreId(db: Queryable, store: AudioStoreBackend): Promise<string> {
  const { store_id: storeId } = (await findKnownStore(db))!;
  await store.writeStoreId(storeId);
  await confirmStoreId(db, storeId);
  return storeId;
}

const adoptCommand = 'npm run admin -- store adopt';

function mismatchMessage({ place, looksFor }: AudioStoreBackend, found: string | undefined): string {
  const holds = found === undefined ? 'it does not hold its mark' : 'it holds the mark of another database';
  return `${place} is not the audio store of this database: ${holds}. ${looksFor} If it is to be this one from now on, type: ${adoptCommand}`;
}
