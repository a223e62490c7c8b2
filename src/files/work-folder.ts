/**
 * Decoded audio for the recognizer: `work/<account>.<session>.<attempt>`. A chunk of it is a file beside it, with a dot
 * and a random UUID at its end. A chunk exists only for a moment, and is left only when the process is killed in that
 * moment. The upload itself lies there as `….upload` when it came from another machine.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filesIn, exists, freeBytesAt, statOf } from './touched-files.ts';
import type { Attempt } from '../../db/sessions/attempts.ts';
import type { WrittenFile } from './touched-files.ts';

const attemptName = /^([0-9a-f-]{36})\.([0-9a-f-]{36})\.(\d+)(\.[0-9a-f-]{36}|\.upload)?$/;

/** The size of a block on any disk. */
const probeBytes = 4096;

export class WorkFolder {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'work');
  }

  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  path({ accountId, sessionId, attempt }: Attempt): string {
    return join(this.#folder, `${accountId}.${sessionId}.${attempt}`);
  }

  /** Where an attempt keeps its copy of the upload. */
  uploadPath(attempt: Attempt): string {
    return `${this.path(attempt)}.upload`;
  }

  /**
   * Removes the audio of an attempt that is over, and what earlier attempts at its session left when their worker died.
   *
   * @throws when a file can't be removed; the others are gone then
   */
  async remove({ accountId, sessionId, attempt }: Attempt): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => {
      const left = attemptOf(name);
      return left?.accountId === accountId && left.sessionId === sessionId && left.attempt <= attempt;
    });
    const removals = await Promise.allSettled(names.map((name) => rm(join(this.#folder, name), { force: true })));
    for (const removal of removals) if (removal.status === 'rejected') throw removal.reason;
  }

  freeBytes(): Promise<number> {
    return freeBytesAt(this.#folder);
  }

  /** Bytes that an attempt has written so far: its decoded audio, and its copy of the upload. */
  async writtenBytes(attempt: Attempt): Promise<number> {
    const sizeOf = async (path: string) => (await statOf(path))?.size ?? 0;
    return (await sizeOf(this.path(attempt))) + (await sizeOf(this.uploadPath(attempt)));
  }

  /** @throws when nothing can be written there: no room, a quota, or a disk that is gone */
  async checkWritable(): Promise<void> {
    const file = join(this.#folder, 'probe');
    try {
      await writeFile(file, Buffer.alloc(probeBytes), { mode: 0o600, flush: true });
    } finally {
      await rm(file, { force: true });
    }
  }

  /** All files of the folder, each with the attempt that it belongs to; other files belong to none. */
  async *files(): AsyncGenerator<WrittenFile & { attempt: Attempt | undefined }> {
    for await (const file of filesIn(this.#folder)) yield { ...file, attempt: attemptOf(file.name) };
  }

  exists(name: string): Promise<boolean> {
    return exists(join(this.#folder, name));
  }
}

function attemptOf(name: string): Attempt | undefined {
  const [, accountId, sessionId, attempt] = attemptName.exec(name) ?? [];
  if (accountId === undefined || sessionId === undefined) return undefined;
  return { accountId, sessionId, attempt: Number(attempt) };
}
