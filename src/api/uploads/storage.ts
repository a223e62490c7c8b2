/** multer's storages: a file in the folder for uploads, hashed only when asked for, or nothing but the hash. */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { diskIsFull } from '../answers/problem.ts';
import { UploadFile } from './file.ts';
import type { Readable } from 'node:stream';
import type { AudioStore } from '../../files/audio-store.ts';
import type { StorageEngine } from 'multer';

export interface StoredFile {
  /** Undefined when only its hash was wanted. */
  path: string | undefined;
  size: number;
  sha256: Buffer | undefined;
  /** Resolves when it is on disk (fsync). */
  flushed: Promise<void>;
}

/** Also tells when every file that it began to write is there, or gone again. */
export interface DiskStorage extends StorageEngine {
  settled(): Promise<void>;
}

export function diskStorage(store: AudioStore, options: { hash: boolean; minFreeDisk: number }): DiskStorage {
  const pending: Promise<unknown>[] = [];

  const write = async (content: Readable): Promise<StoredFile> => {
    const path = store.newIncomingPath();
    const checkDisk = () => refuseFullDisk(store, options.minFreeDisk);
    const file = await UploadFile.create(path, { hash: options.hash, checkDisk });
    try {
      await pipeline(content, file);
    } catch (error) {
      // It may fail too, on some file systems; what came first is what is told.
      await file.close().catch(() => undefined);
      await store.removeIncoming(path);
      throw error;
    }
    const flushed = file.flush();
    // An upload that is refused meanwhile is nobody's: then nobody asks.
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
      const removed = store.removeIncoming(file.path);
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

/** For a repeated upload: its bytes are counted and hashed, and take no room. */
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
 * @param bytes how many more the upload is known to bring
 * @throws {ApiError} 503 `unavailable` when it would leave less than `minFreeDisk` bytes
 */
export async function refuseFullDisk(store: AudioStore, minFreeDisk: number, bytes = 0): Promise<void> {
  if ((await store.freeBytes()) - bytes < minFreeDisk) throw diskIsFull();
}
