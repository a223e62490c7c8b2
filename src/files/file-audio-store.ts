/** Audio in files: `audio/<account>/<session>`, on one file system with the uploads that are being received. */
import { mkdir, open, opendir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { entriesOf, filesIn, lastTouched } from './touched-files.ts';
import type { AudioStore } from './audio-store.ts';
import type { WrittenFile } from './touched-files.ts';

export class FileAudioStore implements AudioStore {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'audio');
  }

  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  path(accountId: string, sessionId: string): string {
    return join(this.#folder, accountId, sessionId);
  }

  async put(file: string, accountId: string, sessionId: string): Promise<void> {
    const folder = join(this.#folder, accountId);
    if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined) await syncFolder(this.#folder);
    await rename(file, this.path(accountId, sessionId));
    await syncFolder(folder);
  }

  async fetch(accountId: string, sessionId: string): Promise<string> {
    return this.path(accountId, sessionId);
  }

  async remove(accountId: string, sessionId: string): Promise<void> {
    await rm(this.path(accountId, sessionId), { force: true });
  }

  async exists(accountId: string, sessionId: string): Promise<boolean> {
    return (await lastTouched(this.path(accountId, sessionId))) !== undefined;
  }

  async removeAccount(accountId: string): Promise<void> {
    await rm(join(this.#folder, accountId), { recursive: true, force: true });
  }

  async *stored(atATime: number): AsyncGenerator<{ accountId: string; files: WrittenFile[] }> {
    for await (const accountId of entriesOf(this.#folder)) {
      if (!uuid.test(accountId)) continue;
      let files: WrittenFile[] = [];
      for await (const file of filesIn(join(this.#folder, accountId))) {
        files.push(file);
        if (files.length < atATime) continue;
        yield { accountId, files };
        files = [];
      }
      if (files.length > 0) yield { accountId, files };
    }
  }

  /** The folder of the spool is always there, unless the disk is not mounted. */
  async checkReadable(): Promise<void> {
    await (await opendir(join(this.#folder, 'incoming'))).close();
  }

  async *olderThan(before: number): AsyncGenerator<{ accountId: string; sessionIds: string[] }> {
    for (const accountId of await readdir(this.#folder)) {
      if (!uuid.test(accountId)) continue;
      const sessionIds: string[] = [];
      for await (const sessionId of entriesOf(join(this.#folder, accountId))) {
        if (uuid.test(sessionId) && isBefore(await lastTouched(this.path(accountId, sessionId)), before))
          sessionIds.push(sessionId);
      }
      if (sessionIds.length > 0) yield { accountId, sessionIds };
    }
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const isBefore = (time: number | undefined, before: number) => time !== undefined && time < before;

/** Makes a rename survive a power failure. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
