/** Uploads that are being received, on the disk of this machine: `audio/incoming/`. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, statfs, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk } from './audio-store.ts';
import { filesIn, isGone, lastTouched } from './touched-files.ts';
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
    const touched = await Promise.allSettled([...this.#comingIn].map((path) => utimes(path, now, now)));
    const failed = touched.find((one) => one.status === 'rejected' && !isGone(one.reason));
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
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

  async has(name: string): Promise<boolean> {
    return (await lastTouched(this.path(name))) !== undefined;
  }

  /** Bytes free for this process on the disk of the folder. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await onDisk(() => statfs(this.#folder));
    return bavail * bsize;
  }
}

const everyMs = 30_000;
const patienceMs = 3 * 60_000;

/** When a file was first seen with this time of its last change. */
interface Met {
  writtenAt: number;
  /** ms, as of `performance.now()` */
  since: number;
}

/**
 * Removes files of uploads whose process was killed. A process touches the files of its own uploads every 30 s. A file
 * that was not touched for 3 minutes belongs to no process any more. Both times are measured by a clock that never
 * jumps.
 */
export class AbandonedUploads {
  readonly #spool: Spool;
  readonly #log: Log;
  #met = new Map<string, Met>();

  constructor(spool: Spool, log: Log) {
    this.#spool = spool;
    this.#log = log;
  }

  /**
   * Removes files that were first seen 3 minutes ago or longer and were not touched since. One that can't be removed keeps
   * no others.
   *
   * @param now ms, as of `performance.now()`
   */
  async look(now = performance.now()): Promise<void> {
    const notYet = (error: unknown) => this.#log.warn({ err: error }, 'an abandoned upload was not removed yet');
    await this.#spool.touch();
    const left = new Map<string, Met>();
    for await (const { name, writtenAt } of this.#spool.files()) {
      const before = this.#met.get(name);
      const since = before?.writtenAt === writtenAt ? before.since : now;
      if (now - since < patienceMs) left.set(name, { writtenAt, since });
      else await this.#spool.remove(this.#spool.path(name)).catch(notYet);
    }
    this.#met = left;
  }
}

/** Looks at once and then every 30 s. @returns ends it, and resolves when it has ended */
export function keepRemovingAbandonedUploads(spool: Spool, log: Log): () => Promise<void> {
  const abandoned = new AbandonedUploads(spool, log);
  const look = () =>
    abandoned.look().catch((error: unknown) => log.warn({ err: error }, 'abandoned uploads could not be removed yet'));
  let looking = look();
  const timer = setInterval(() => void (looking = looking.then(look)), everyMs).unref();
  return () => {
    clearInterval(timer);
    return looking;
  };
}
