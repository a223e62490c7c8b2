/** Audio in files: `audio/<account>/<session>`, on one file system with the uploads that are being received. */
import { randomUUID } from 'node:crypto';
import { mkdir, opendir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../db/embedded/cluster.ts';
import { isId, storeIdFile, onDisk } from './audio-store.ts';
import { entriesOf, exists, statOf, undefinedIfNotFound } from './touched-files.ts';
import type { AudioStoreBackend, StoredAudio } from './audio-store.ts';

export class FileAudioStore implements AudioStoreBackend {
  readonly fetchesCopies = false;
  readonly looksFor = 'Is its disk mounted, and is DATA_DIR the one that it was?';
  /** A disk can be unmounted at any moment. */
  readonly storeIdValidMs = 0;
  readonly place: string;

  constructor(dataDir: string) {
    this.place = join(dataDir, 'audio');
  }

  async open(): Promise<void> {
    await onDisk(() => mkdir(this.place, { recursive: true, mode: 0o700 }));
  }

  readStoreId(): Promise<string | undefined> {
    const file = join(this.place, storeIdFile);
    return onDisk(async () => (await readFile(file, 'utf8').catch(undefinedIfNotFound))?.trim());
  }

  async writeStoreId(storeId: string): Promise<void> {
    await this.open();
    await onDisk(async () => {
      const written = join(this.place, `${storeIdFile}.${randomUUID()}`);
      await writeFile(written, `${storeId}\n`, { mode: 0o600, flush: true });
      await rename(written, join(this.place, storeIdFile));
      await syncFolder(this.place);
    });
  }

  path(accountId: string, sessionId: string): string {
    return join(this.place, accountId, sessionId);
  }

  async put(file: string, accountId: string, sessionId: string): Promise<void> {
    const folder = join(this.place, accountId);
    await onDisk(async () => {
      if (await this.exists(accountId, sessionId)) throw new Error(`${sessionId} has audio already`);
      if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined) await syncFolder(this.place);
      await rename(file, this.path(accountId, sessionId));
      await syncFolder(folder);
    });
  }

  async fetch(accountId: string, sessionId: string): Promise<string> {
    return this.path(accountId, sessionId);
  }

  async remove(accountId: string, sessionId: string): Promise<void> {
    await rm(this.path(accountId, sessionId), { force: true });
  }

  exists(accountId: string, sessionId: string): Promise<boolean> {
    return exists(this.path(accountId, sessionId));
  }

  async removeAccount(accountId: string): Promise<void> {
    await rm(join(this.place, accountId), { recursive: true, force: true });
  }

  async *list(onUnreadable?: (error: unknown) => void): AsyncGenerator<StoredAudio> {
    for (const accountId of await namesIn(this.place)) {
      if (!isId(accountId)) continue;
      try {
        yield* this.#listOf(accountId);
      } catch (error) {
        if (onUnreadable === undefined) throw error;
        onUnreadable(error);
      }
    }
  }

  async *#listOf(accountId: string): AsyncGenerator<StoredAudio> {
    for (const name of await namesIn(join(this.place, accountId))) {
      const found = await statOf(this.path(accountId, name));
      if (found === undefined) continue;
      const { mtimeMs, ctimeMs } = found;
      const now = Date.now();
      yield { accountId, name, ageMs: now - mtimeMs, keptMs: now - Math.max(mtimeMs, ctimeMs) };
    }
  }

  /** A rename is done or not done. */
  async endAbandonedPuts(): Promise<void> {}

  async checkReadable(): Promise<void> {
    await onDisk(async () => (await opendir(this.place)).close());
  }
}

/** Sorted by their bytes; none where the folder does not exist. */
const namesIn = async (folder: string): Promise<string[]> => (await Array.fromAsync(entriesOf(folder))).sort();
