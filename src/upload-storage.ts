/** multer's storage: one stream to disk, flushed to it before it counts as received, hashed only when asked for. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { unavailable } from './problem.ts';
import type { Hash } from 'node:crypto';
import type { AudioStore } from './audio-store.ts';
import type { TransformCallback } from 'node:stream';
import type { StorageEngine } from 'multer';

/** Fewer and larger writes: 0.96 of piping the body to a file, instead of 0.75 with the default of 64 KiB. */
const writeBufferBytes = 1024 * 1024;
const checkDiskEveryBytes = 64 * 1024 * 1024;
const diskFullRetrySeconds = 60;

export interface StoredFile {
  path: string;
  size: number;
  sha256: Buffer | undefined;
}

export function diskStorage(store: AudioStore, options: { hash: boolean; minFreeDisk: number }): StorageEngine {
  return {
    _handleFile(_req, file, done) {
      const path = store.newIncomingPath();
      const hash = options.hash ? createHash('sha256') : undefined;
      const counter = new ByteCounter(hash, () => refuseFullDisk(store, options.minFreeDisk));
      const disk = createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: writeBufferBytes, flush: true });
      pipeline(file.stream, counter, disk).then(
        () => done(null, { path, size: counter.bytes, sha256: hash?.digest() } as Partial<Express.Multer.File>),
        async (error: unknown) => {
          await store.removeIncoming(path);
          done(isDiskFull(error) ? diskIsFull() : error);
        },
      );
    },
    _removeFile(_req, file, done) {
      store.removeIncoming(file.path).then(() => done(null), done);
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

const diskIsFull = () => unavailable('There is no room for this upload now. Try again later.', diskFullRetrySeconds);

const isDiskFull = (error: unknown) =>
  Error.isError(error) && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

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
