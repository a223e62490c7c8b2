/** Uploads that are being received, on the disk of this machine: `audio/incoming/`. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, statfs, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk } from './on-disk.ts';
import { filesIn, isGone, lastTouched } from './touched-files.ts';
import type { WrittenFile } from './touched-files.ts';

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
