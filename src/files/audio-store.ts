/** Uploaded audio on disk: `audio/<account>/<session>`, with `audio/incoming/` beside it on the same file system. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, opendir, readdir, rename, rm, statfs, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { entriesOf, filesIn, isGone, lastTouched } from './touched-files.ts';
import type { WrittenFile } from './touched-files.ts';

export class AudioStore {
  readonly #folder: string;
  readonly #incoming: string;
  /** Paths of the uploads that this process is receiving. */
  readonly #comingIn = new Set<string>();

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'audio');
    this.#incoming = join(this.#folder, 'incoming');
  }

  async open(): Promise<void> {
    await mkdir(this.#incoming, { recursive: true, mode: 0o700 });
  }

  /** A new name for an upload that is being received. */
  newIncomingPath(): string {
    const path = this.incomingPath(randomUUID());
    this.#comingIn.add(path);
    return path;
  }

  incomingPath(name: string): string {
    return join(this.#incoming, name);
  }

  /** Touches the files of this process's uploads, so that other processes leave them alone. */
  async touchIncoming(): Promise<void> {
    const now = new Date();
    for (const path of this.#comingIn) {
      await utimes(path, now, now).catch((error: unknown) => {
        if (!isGone(error)) throw error;
      });
    }
  }

  path(accountId: string, sessionId: string): string {
    return join(this.#folder, accountId, sessionId);
  }

  /**
   * Gives a received file, which is on disk already (fsync), the name of its session. The name survives a power
   * failure.
   */
  async keep(incomingPath: string, accountId: string, sessionId: string): Promise<void> {
    const folder = join(this.#folder, accountId);
    if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined) await syncFolder(this.#folder);
    await rename(incomingPath, this.path(accountId, sessionId));
    this.#comingIn.delete(incomingPath);
    await syncFolder(folder);
  }

  async remove(accountId: string, sessionId: string): Promise<void> {
    await rm(this.path(accountId, sessionId), { force: true });
  }

  async removeIncoming(path: string): Promise<void> {
    // The sweep removes what can't be removed now.
    this.#comingIn.delete(path);
    await rm(path, { force: true });
  }

  async exists(accountId: string, sessionId: string): Promise<boolean> {
    return (await lastTouched(this.path(accountId, sessionId))) !== undefined;
  }

  async removeAccount(accountId: string): Promise<void> {
    await rm(join(this.#folder, accountId), { recursive: true, force: true });
  }

  /**
   * All stored files, some files of an account at a time, in no order. It also finds files that do not have the name of
   * a session: a person put them there.
   */
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

  /** Files of uploads that are being received, and of those whose process died. */
  incoming(): AsyncGenerator<WrittenFile> {
    return filesIn(this.#incoming);
  }

  async isComingIn(name: string): Promise<boolean> {
    return (await lastTouched(this.incomingPath(name))) !== undefined;
  }

  /** @throws when the folder of uploads is gone or can't be read; then this is true of all folders */
  async checkReadable(): Promise<void> {
    await (await opendir(this.#incoming)).close();
  }

  /** Bytes free for this process on the disk of the store. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#incoming);
    return bavail * bsize;
  }

  /** Stored audio that is older than `before` (ms since the epoch), by account. */
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
