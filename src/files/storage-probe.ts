/**
 * Whether an audio store takes, gives back and removes audio. A key that may only read, and a store that knows no
 * conditions, look like any other until the first upload.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { withTimeout } from '../concurrency/with-timeout.ts';
import { AudioStoreUnavailable } from './audio-store.ts';
import type { AudioStore } from './audio-store.ts';
import type { Spool } from './spool.ts';

const content = randomBytes(512);
const longestMs = 60_000;
/** `/readyz` may be asked several times a second. */
const againAfterMs = 5_000;

/** Stores and removes an object that belongs to no account, as an upload does. The sweep cleans up after a crash. */
export async function probeStore(store: AudioStore, spool: Spool): Promise<void> {
  const [account, session] = [randomUUID(), randomUUID()];
  // Files lie in a folder of the account.
  const forget = () => store.remove(account, session).then(() => store.removeAccount(account));
  await onSpool(spool, (file) => store.put(file, account, session));
  try {
    const second = onSpool(spool, (file) => store.put(file, account, session));
    if (await second.then(() => true, throwAway))
      throw new AudioStoreUnavailable('the audio store replaces what it holds: it ignores If-None-Match');
    await onSpool(spool, async (to) => {
      const wanted = { to, bytes: content.length, signal: AbortSignal.timeout(longestMs) };
      const read = await readFile(await store.fetch(account, session, wanted));
      if (!read.equals(content)) throw new AudioStoreUnavailable('the audio store gives back other bytes than it took');
    });
  } catch (error) {
    await forget().catch(() => undefined);
    throw error;
  }
  await forget();
}

/** Hands a file of the spool to `use`. */
async function onSpool(spool: Spool, use: (file: string) => Promise<void>): Promise<void> {
  const file = spool.newPath();
  try {
    await writeFile(file, content, { mode: 0o600, flush: true });
    await use(file);
  } finally {
    await spool.remove(file);
  }
}

/** The store is to refuse what it has already. */
function throwAway(error: unknown): false {
  if (error instanceof AudioStoreUnavailable) throw error;
  return false;
}

type WatchedStore = AudioStore & { readonly whyNoPuts: string | undefined };

/** Remembers why no upload can be stored, and tries again when asked. */
export class StorageProbe {
  readonly #store: WatchedStore;
  readonly #spool: Spool;
  #hasPassed = false;
  #why: string | undefined;
  #again: Promise<void> | undefined;
  #triedAt = -Infinity;

  constructor(store: WatchedStore, spool: Spool) {
    this.#store = store;
    this.#spool = spool;
  }

  /** @throws why no upload can be stored */
  async run(): Promise<void> {
    this.#triedAt = performance.now();
    this.#hasPassed = false;
    try {
      await probeStore(this.#store, this.#spool);
      this.#hasPassed = true;
      this.#why = undefined;
    } catch (error) {
      this.#why = Error.isError(error) ? error.message : String(error);
      throw error;
    }
  }

  /** A sentence without its full stop; undefined as far as uploads can be stored. It waits no longer than `limitMs`. */
  async whyNot(limitMs: number): Promise<string | undefined> {
    const isGood = this.#hasPassed && this.#store.whyNoPuts === undefined;
    if (!isGood && performance.now() - this.#triedAt >= againAfterMs)
      this.#again ??= this.run()
        .catch(() => undefined)
        .finally(() => (this.#again = undefined));
    await withTimeout(this.#again ?? Promise.resolve(), limitMs, undefined);
    return this.#why ?? this.#store.whyNoPuts;
  }
}
