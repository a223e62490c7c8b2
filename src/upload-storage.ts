/** multer's storage: one stream to disk, flushed to it before it counts as received, hashed only when asked for. */
import { createHash } from 'node:crypto';
import { createWriteStream, fdatasync } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { diskIsFull } from './problem.ts';
import type { Hash } from 'node:crypto';
import type { WriteStream } from 'node:fs';
import type { Readable, TransformCallback } from 'node:stream';
import type { AudioStore } from './audio-store.ts';
import type { StorageEngine } from 'multer';

/** Fewer and larger writes: 0.96 of piping the body to a file, instead of 0.75 with the default of 64 KiB. */
const writeBufferBytes = 1024 * 1024;
/** After so many bytes the disk is told to write them while more come in, and asked whether it has room. */
const checkpointEveryBytes = 8 * 1024 * 1024;

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
    const disk = createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: writeBufferBytes, flush: true });
    const counter = new ByteCounter(hash, disk, () => refuseFullDisk(store, options.minFreeDisk));
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

const flushToDisk = promisify(fdatasync);

/** Counts and hashes what passes, and has it flushed while more comes: at the end there is little left to wait for. */
class ByteCounter extends Transform {
  bytes = 0;
  #nextCheckpoint = checkpointEveryBytes;
  readonly #hash: Hash | undefined;
  readonly #checkDisk: () => Promise<void>;
  #descriptor: number | undefined;
  #isFlushing = false;
  #flushed: Promise<void> = Promise.resolve();

  constructor(hash: Hash | undefined, disk: WriteStream, checkDisk: () => Promise<void>) {
    super({ highWaterMark: writeBufferBytes });
    this.#hash = hash;
    this.#checkDisk = checkDisk;
    disk.once('open', (descriptor) => (this.#descriptor = descriptor));
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.bytes += chunk.length;
    this.#hash?.update(chunk);
    if (this.bytes < this.#nextCheckpoint) {
      done(null, chunk);
      return;
    }
    this.#nextCheckpoint += checkpointEveryBytes;
    this.#beginFlush();
    this.#checkDisk().then(() => done(null, chunk), done);
  }

  /** The system tells an error of the disk once only: the flush at the end would not hear of it again. */
  override _flush(done: TransformCallback): void {
    this.#flushed.then(() => done(), done);
  }

  #beginFlush(): void {
    if (this.#isFlushing || this.#descriptor === undefined) return;
    this.#isFlushing = true;
    // After one that failed none begins any more.
    this.#flushed = flushToDisk(this.#descriptor).then(() => void (this.#isFlushing = false));
    this.#flushed.catch(() => undefined);
  }
}
