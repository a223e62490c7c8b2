/** Uploaded audio on disk: `audio/<account>/<session>`, with `audio/incoming/` beside it on the same file system. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

export class AudioStore {
  readonly #folder: string;
  readonly #incoming: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'audio');
    this.#incoming = join(this.#folder, 'incoming');
  }

  async open(): Promise<void> {
    await mkdir(this.#incoming, { recursive: true, mode: 0o700 });
  }

  /** A name for an upload that is still coming in. */
  newIncomingPath(): string {
    return join(this.#incoming, randomUUID());
  }

  path(accountId: string, sessionId: string): string {
    return join(this.#folder, accountId, sessionId);
  }

  /** Gives an incoming file, which is on disk already (fsync), its session's name, durably. */
  async keep(incomingPath: string, accountId: string, sessionId: string): Promise<void> {
    const folder = join(this.#folder, accountId);
    if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined) await syncFolder(this.#folder);
    await rename(incomingPath, this.path(accountId, sessionId));
    await syncFolder(folder);
  }

  async remove(accountId: string, sessionId: string): Promise<void> {
    await rm(this.path(accountId, sessionId), { force: true });
  }

  async removeIncoming(path: string): Promise<void> {
    await rm(path, { force: true });
  }

  async exists(accountId: string, sessionId: string): Promise<boolean> {
    return (await lastTouched(this.path(accountId, sessionId))) !== undefined;
  }

  async removeAccount(accountId: string): Promise<void> {
    await rm(join(this.#folder, accountId), { recursive: true, force: true });
  }

  /** Bytes free for this process on the disk of the store. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#incoming);
    return bavail * bsize;
  }

  /** Incoming files that nobody has written to since `before` (ms since the epoch): of uploads that died. */
  async *abandonedIncoming(before: number): AsyncGenerator<string> {
    for (const name of await readdir(this.#incoming)) {
      const path = join(this.#incoming, name);
      if (isBefore(await lastTouched(path), before)) yield path;
    }
  }

  /** Stored audio that is older than `before` (ms since the epoch), by account. */
  async *olderThan(before: number): AsyncGenerator<{ accountId: string; sessionIds: string[] }> {
    for (const accountId of await readdir(this.#folder)) {
      if (!uuid.test(accountId)) continue;
      const sessionIds: string[] = [];
      for (const sessionId of await namesIn(join(this.#folder, accountId))) {
        if (uuid.test(sessionId) && isBefore(await lastTouched(this.path(accountId, sessionId)), before))
          sessionIds.push(sessionId);
      }
      if (sessionIds.length > 0) yield { accountId, sessionIds };
    }
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const isBefore = (time: number | undefined, before: number) => time !== undefined && time < before;

/** Nothing for a folder that another process removed with its account. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

async function lastTouched(path: string): Promise<number | undefined> {
  try {
    const { mtimeMs, ctimeMs } = await stat(path);
    return Math.max(mtimeMs, ctimeMs);
  } catch (error) {
    // Another process removed it first.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes a rename survive a power failure. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
