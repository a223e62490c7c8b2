/**
 * Passes an upload on. Ends it when the client stalls (30 s without a byte, or less than 16 KiB/s over 60 s), or when
 * it sends more than a file of the largest size needs. Without that bound, a body without a length could go on for ever
 * beside its file. On the way the heads of its parts are spelled in one way, by `PartHeads`.
 */
import { Transform } from 'node:stream';
import { ApiError } from '../answers/problem.ts';
import { fileTooLarge, formOverheadBytes } from './form.ts';
import { PartHeads } from './part-heads.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { TransformCallback } from 'node:stream';

const maxIdleMs = 30_000;
const windowMs = 60_000;
const minBytesPerWindow = (16 * 1024 * windowMs) / 1000;
const checkEveryMs = 1_000;

export class UploadMeter extends Transform {
  /**
   * multer takes this stream for the request, and reads from its headers that there is a body and what its boundary is.
   * Of the client's own headers it would take some for no form at all: readers of forms agree on this one spelling.
   */
  readonly headers: IncomingHttpHeaders;
  readonly #maxFileBytes: number;
  readonly #heads: PartHeads;
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;
  #lastByteAt = performance.now();
  #windowBegan = performance.now();
  #bytesInWindow = 0;

  constructor(boundary: string, maxFileBytes: number) {
    super({ highWaterMark: 1024 * 1024 });
    this.headers = { 'content-type': `multipart/form-data; boundary="${boundary}"`, 'transfer-encoding': 'chunked' };
    this.#maxFileBytes = maxFileBytes;
    this.#heads = new PartHeads(boundary);
    this.#timer = setInterval(() => this.#check(), checkEveryMs);
    this.once('close', () => clearInterval(this.#timer));
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#lastByteAt = performance.now();
    this.#bytesInWindow += chunk.length;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxFileBytes + formOverheadBytes) done(fileTooLarge(this.#maxFileBytes));
    else done(null, this.#heads.pass(chunk));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#heads.rest());
  }

  #check(): void {
    const now = performance.now();
    if (this.writableNeedDrain || this.writableEnded) {
      // The disk is slow, not the client.
      this.#lastByteAt = now;
      this.#beginWindow(now);
    } else if (now - this.#lastByteAt >= maxIdleMs) {
      this.#end('No byte of the upload arrived for 30 seconds.');
    } else if (now - this.#windowBegan >= windowMs) {
      if (this.#bytesInWindow < minBytesPerWindow) this.#end('The upload came at less than 16 KiB per second.');
      this.#beginWindow(now);
    }
  }

  #beginWindow(now: number): void {
    this.#windowBegan = now;
    this.#bytesInWindow = 0;
  }

  #end(detail: string): void {
    this.destroy(new ApiError(408, 'upload_timeout', detail));
  }
}
