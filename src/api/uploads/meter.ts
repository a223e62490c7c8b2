/**
 * Passes an upload on. Ends it when the client stalls (30 s without a byte, or less than 16 KiB/s over 60 s), or when
 * it sends more than a file of the largest size needs. Without that bound, a body without a length could go on for ever
 * beside its file. On the way the heads of its parts are spelled in one way, by `PartHeads`.
 */
import { Transform } from 'node:stream';
import { ApiError } from '../answers/problem.ts';
import { Pace } from '../connections/limits.ts';
import { fileTooLarge, formOverheadBytes } from './form.ts';
import { PartHeads } from './part-heads.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { TransformCallback } from 'node:stream';

const faults = {
  stalled: 'No byte of the upload arrived for 30 seconds.',
  slow: 'The upload came at less than 16 KiB per second.',
};
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
  #pace = new Pace(0, performance.now());

  constructor(boundary: string, maxFileBytes: number) {
    super({ highWaterMark: 1024 * 1024 });
    this.headers = { 'content-type': `multipart/form-data; boundary="${boundary}"`, 'transfer-encoding': 'chunked' };
    this.#maxFileBytes = maxFileBytes;
    this.#heads = new PartHeads(boundary);
    this.#timer = setInterval(() => this.#check(), checkEveryMs);
    this.once('close', () => clearInterval(this.#timer));
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxFileBytes + formOverheadBytes) done(fileTooLarge(this.#maxFileBytes));
    else done(null, this.#heads.pass(chunk));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#heads.rest());
  }

  #check(): void {
    const now = performance.now();
    // Otherwise the disk is slow, not the client.
    const isClientsTurn = !this.writableNeedDrain && !this.writableEnded;
    const fault = isClientsTurn ? this.#pace.faultAt(this.#bytes, now) : undefined;
    if (!isClientsTurn) this.#pace = new Pace(this.#bytes, now);
    if (fault !== undefined) this.destroy(new ApiError(408, 'upload_timeout', faults[fault]));
  }
}
