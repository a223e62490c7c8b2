/** multer's storage: one stream to disk, flushed to it before it counts as received, hashed only when asked for. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { diskIsFull } from './problem.ts';
import type { Hash } from 'node:crypto';
import type { Readable, TransformCallback } from 'node:stream';
import type { AudioStore } from './audio-store.ts';
import type { StorageEngine } from 'multer';

/** Fewer and larger writes: 0.96 of piping the body to a file, instead of 0.75 with the default of 64 KiB. */
const writeBufferBytes = 1024 * 1024;
const checkDiskEveryBytes = 64 * 1024 * 1024;

export interface StoredFile {
  path: string;
  size: number;
  sha256: Buffer | undefined;
}

/** Also tells when every file that it began to write is there, or gone again. */
export interface DiskStorage extends StorageEngine {
  settled(): Promise<void>;
}

export function diskStorage(store: AudioStore, options: { hash: boolean; minFreeDisk: number }): DiskStorage {
  const pending: Promise<unknown>[] = [];

  const write = async (content: Readable): Promise<StoredFile> => {
    const path = store.newIncomingPath();
    const hash = options.hash ? createHash('sha256') : undefined;
    const counter = new ByteCounter(hash, () => refuseFullDisk(store, options.minFreeDisk));
    const disk = createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: writeBufferBytes, flush: true });
    try {
      await pipeline(content, counter, disk);
    } catch (error) {
      // Opening may be under way: removed before that, the file would come back.
      if (!disk.closed) await new Promise((resolve) => disk.once('close', resolve));
      await store.removeIncoming(path);
      throw error;
    }
    return { path, size: counter.bytes, sha256: hash?.digest() };
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

/**
 * @param bytes how many more the upload is known to bring
 * @throws {ApiError} 503 `unavailable` when it would leave less than `minFreeDisk` bytes
 */
export async function refuseFullDisk(store: AudioStore, minFreeDisk: number, bytes = 0): Promise<void> {
  if ((await store.freeBytes()) - bytes < minFreeDisk) throw diskIsFull();
}

class ByteCounter extends Transform {
  bytes = 0;
  #nextCheck = checkDiskEveryBytes;
  readonly #hash: Hash | undefined;
  readonly #checkDisk: () => Promise<void>;

  constructor(hash: Hash | undefined, checkDisk: () => Promise<void>) {
    super({ highWaterMark: writeBufferBytes });
    this.#hash = hash;
    this.#checkDisk = checkDisk;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length;
    this.#hash?.update(chunk);
    if (this.bytes < this.#nextCheck) {
      done(null, chunk);
      return;
    }
    this.#nextCheck += checkDiskEveryBytes;
    this.#checkDisk().then(() => done(null, chunk), done);
  }
}
