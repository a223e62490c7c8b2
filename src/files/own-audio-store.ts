/**
 * The audio store of this database, and no other: both hold the same mark, which is read before each call. A disk that is
 * not mounted has none, and another bucket has another. So nothing is written to a folder below a mount point, nothing
 * counts as lost that lies on another disk, and no sweep removes what is another database's.
 */
import { randomUUID } from 'node:crypto';
import { confirmMark, findKnownStore, proposeMark, replaceMark } from '../../db/known-store.ts';
import { AudioStoreAway, AudioStoreLost, AudioUnreadable } from './audio-store.ts';
import { FileAudioStore } from './file-audio-store.ts';
import type { Db, Queryable } from '../../db/connection/database.ts';
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

/**
 * Makes sure that the store is the database's. Before the database knows one, as at the first start, the store is marked.
 *
 * @returns the mark
 * @throws {AudioStoreLost}
 */
export async function proveStore(db: Queryable, store: BareAudioStore): Promise<string> {
  // A process that marks a store writes the mark into the database before, and confirms it there afterwards.
  let found = await store.readMark();
  const known = await findKnownStore(db);
  if (known?.is_marked) found = await store.readMark();
  if (known?.is_marked || found !== undefined) {
    if (known?.mark !== found) throw new AudioStoreLost(whyAnother(store, found));
    await confirmMark(db, known!.mark);
    return known!.mark;
  }
  await proposeMark(db, randomUUID());
  return writeMark(db, store);
}

/**
 * From now on this store is the database's, and the mark of before counts no more. Services of another database that used the
 * store stand still.
 */
export async function adoptStore(db: Queryable, store: BareAudioStore): Promise<string> {
  await replaceMark(db, randomUUID());
  return writeMark(db, store);
}

/** Why the store is not the database's, as a sentence; undefined when it is, or is not marked yet. It changes nothing. */
export async function whyNotOurs(db: Queryable, store: BareAudioStore): Promise<string | undefined> {
  const found = await store.readMark();
  const known = await findKnownStore(db);
  return found === known?.mark || (found === undefined && !known!.is_marked) ? undefined : whyAnother(store, found);
}

async function writeMark(db: Queryable, store: BareAudioStore): Promise<string> {
  const { mark } = (await findKnownStore(db))!;
  await store.writeMark(mark);
  await confirmMark(db, mark);
  return mark;
}

const adoptCommand = 'npm run admin -- store adopt';

function whyAnother({ place, looksFor }: BareAudioStore, found: string | undefined): string {
  const holds = found === undefined ? 'it does not hold its mark' : 'it holds the mark of another database';
  return `${place} is not the audio store of this database: ${holds}. ${looksFor} If it is to be this one from now on, type: ${adoptCommand}`;
}
