/** Uploads that are being received, on the disk of this machine: `audio/incoming/`. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk } from './audio-store.ts';
import { filesIn, exists, freeBytesAt, undefinedIfNotFound } from './touched-files.ts';
import type { WrittenFile } from './touched-files.ts';
import type { Log } from '../ops/log.ts';

export class Spool {
  readonly #folder: string;
  /** Paths of the uploads that this process is receiving. */
  readonly #comingIn = new Set<string>();

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'audio', 'incoming');
  }

  /** Makes the folder where it is missing. Where audio is kept in files, its store is opened first: it knows its disk. */
  async open(): Promise<void> {
    await onDisk(() => mkdir(this.#folder, { recursive: true, mode: 0o700 }));
  }

  /** A new name for an upload that is being received. */
  newPath(): string {
    const path = this.path(randomUUID());
    this.#comingIn.add(path);
    return path;
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  /**
   * Touches the files of this process's uploads, so that other processes leave them alone.
   *
   * @throws when one can't be touched; the others are then
   */
  async touch(): Promise<void> {
    const now = new Date();
    const touch = (path: string) => utimes(path, now, now).catch(undefinedIfNotFound);
    const touches = await Promise.allSettled([...this.#comingIn].map(touch));
    for (const one of touches) if (one.status === 'rejected') throw one.reason;
  }

  /** Also when an audio store has taken the file over. What can't be removed now is removed as an abandoned upload. */
  async remove(path: string): Promise<void> {
    this.#comingIn.delete(path);
    await rm(path, { force: true });
  }

  /** Files of uploads that are being received, and of those whose process died. */
  files(): AsyncGenerator<WrittenFile> {
    return filesIn(this.#folder);
  }

  has(name: string): Promise<boolean> {
    return exists(this.path(name));
  }

  freeBytes(): Promise<number> {
    return onDisk(() => freeBytesAt(this.#folder));
  }
}

const everyMs = 30_000;
const patienceMs = 3 * 60_000;

/** Files by their names: the time of their last change, and since when it is known, in ms as of `performance.now()`. */
type Met = Map<string, { writtenAt: number; since: number }>;

/**
 * Touches the files of this process's uploads, and removes those of uploads whose process was killed: files that were first
 * seen 3 minutes ago or longer and were not touched since. Both times are measured by a clock that never jumps. One that
 * can't be removed does not stop the rest.
 *
 * @param met what the look before has left
 * @param now ms, as of `performance.now()`
 * @returns what this look has left
 */
export async function removeAbandonedUploads(spool: Spool, log: Log, met: Met, now = performance.now()): Promise<Met> {
  const notYet = (error: unknown) => log.warn({ err: error }, 'an abandoned upload was not removed yet');
  await spool.touch();
  const left: Met = new Map();
  for await (const { name, writtenAt } of spool.files()) {
    const before = met.get(name);
    const since = before?.writtenAt === writtenAt ? before.since : now;
    if (now - since < patienceMs) left.set(name, { writtenAt, since });
    else await spool.remove(spool.path(name)).catch(notYet);
  }
  return left;
}

/** Looks at once and then every 30 s. @returns ends it, and resolves when it has ended */
export function keepRemovingAbandonedUploads(spool: Spool, log: Log): () => Promise<void> {
  let met: Met = new Map();
  const look = async () => {
    try {
      met = await removeAbandonedUploads(spool, log, met);
    } catch (error) {
      log.warn({ err: error }, 'abandoned uploads could not be removed yet');
    }
  };
  let looking = look();
  const timer = setInterval(() => void (looking = looking.then(look)), everyMs).unref();
  return () => {
    clearInterval(timer);
    return looking;
  };
}
