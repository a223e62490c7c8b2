/** multer's storages: one writes a file to the folder of uploads, the other only hashes. */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { diskIsFull } from '../answers/problem.ts';
import { onDisk } from '../../files/audio-store.ts';
import { UploadFile } from './file.ts';
import type { Readable } from 'node:stream';
import type { Spool } from '../../files/spool.ts';
import type { StorageEngine } from 'multer';

export interface StoredFile {
  /** Undefined when only the hash was needed. */
  path: string | undefined;
  size: number;
  sha256: Buffer | undefined;
  /** Resolves when it is on disk (fsync). */
  flushed: Promise<void>;
}

/** It can also wait until every file that it began is written or removed. */
export interface DiskStorage extends StorageEngine {
  settled(): Promise<void>;
}

export function diskStorage(spool: Spool, options: { hash: boolean; minFreeDisk: number }): DiskStorage {
  const pending: Promise<unknown>[] = [];

  const write = async (content: Readable): Promise<StoredFile> => {
    const path = spool.newPath();
    const checkDisk = () => refuseFullDisk(spool, options.minFreeDisk);
    let file: UploadFile | undefined;
    try {
      const opened = (file = await onDisk(() => UploadFile.create(path, { hash: options.hash, checkDisk })));
      await onDisk(() => pipeline(content, opened));
    } catch (error) {
      // These may fail, too, on some file systems. The first error is reported.
      await file?.close().catch(() => undefined);
      await spool.remove(path).catch(() => undefined);
      throw error;
    }
    const flushed = onDisk(() => file.flush());
    // Nobody waits for the flush of an upload that is refused in the meantime.
    flushed.catch(() => undefined);
    return { path, size: file.bytes, sha256: file.sha256(), flushed };
  };

  return {
    _handleFile(_req, file, done) {
      const written = write(file.stream);
      pending.push(written);
      written.then((stored) => done(null, stored as Partial<Express.Multer.File>), done);
    },
    _removeFile(_req, file, done) {
      const removed = spool.remove(file.path);
      pending.push(removed);
      removed.then(() => done(null), done);
    },
    async settled() {
      for (let seen = -1; seen !== pending.length;) {
        seen = pending.length;
        await Promise.allSettled(pending);
      }
    },
  };
}

/** For a repeated upload: counts and hashes its bytes and stores nothing. */
export function hashingStorage(): DiskStorage {
  const read = async (content: Readable): Promise<StoredFile> => {
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of content as AsyncIterable<Buffer>) {
      hash.update(chunk);
      size += chunk.length;
    }
    return { path: undefined, size, sha256: hash.digest(), flushed: Promise.resolve() };
  };
  return {
    _handleFile(_req, file, done) {
      read(file.stream).then((stored) => done(null, stored as Partial<Express.Multer.File>), done);
    },
    _removeFile: (_req, _file, done) => done(null),
    settled: async () => {},
  };
}

/**
 * @param bytes how many more bytes the upload is known to have
 * @throws {ApiError} 503 `unavailable` when it would leave less than `minFreeDisk` bytes
 */
export async function refuseFullDisk(spool: Spool, minFreeDisk: number, bytes = 0): Promise<void> {
  if ((await spool.freeBytes()) - bytes < minFreeDisk) throw diskIsFull();
}
