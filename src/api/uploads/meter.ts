/**
 * Passes an upload on. Ends it when the client stalls (30 s without a byte, or less than 16 KiB/s over 60 s), or when
 * it sends more than a file of the largest size needs. Without that bound, a body without a length could go on for ever
 * beside its file. A file without a name gets one on the way, from `FileNamer`.
 */
import { Transform } from 'node:stream';
import { ApiError } from '../answers/problem.ts';
import { fileTooLarge, formOverheadBytes } from './form.ts';
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
  readonly #namer: FileNamer;
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;
  #lastByteAt = performance.now();
  #windowBegan = performance.now();
  #bytesInWindow = 0;

  constructor(boundary: string, maxFileBytes: number) {
    super({ highWaterMark: 1024 * 1024 });
    this.headers = { 'content-type': `multipart/form-data; boundary="${boundary}"`, 'transfer-encoding': 'chunked' };
    this.#maxFileBytes = maxFileBytes;
    this.#namer = new FileNamer(boundary);
    this.#timer = setInterval(() => this.#check(), checkEveryMs);
    this.once('close', () => clearInterval(this.#timer));
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#lastByteAt = performance.now();
    this.#bytesInWindow += chunk.length;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxFileBytes + formOverheadBytes) done(fileTooLarge(this.#maxFileBytes));
    else done(null, this.#namer.pass(chunk));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#namer.rest());
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

/**
 * Gives the part `file` a file name if it has none (RFC 7578, section 4.2, only recommends one). busboy takes a part
 * without a file name for text and would cut and decode it. Only bytes before the first byte of the part's content are
 * looked at.
 */

const endOfHead = Buffer.from('\r\n\r\n');
/** The name is only a dot, so the session is called "Untitled". */
const fileName = '; filename="."';

export class FileNamer {
  readonly #delimiter: Buffer;
  /** Bytes that may be the beginning of a part's head. */
  #held: Buffer = Buffer.of();
  #passedBytes = 0;
  #isDone = false;

  /** @param boundary of the form */
  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`--${boundary}\r\n`, 'latin1');
  }

  /** @returns bytes that may be passed on; none while a head is not complete */
  pass(chunk: Buffer): Buffer {
    if (this.#isDone) return chunk;
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.of();
    const delimiter = this.#delimiter;
    for (let from = 0; ;) {
      const start = bytes.indexOf(delimiter, from);
      if (start === -1) return this.#hold(bytes, Math.max(from, bytes.length - delimiter.length + 1));
      // The last line break of the delimiter may be the first of an empty head.
      const end = bytes.indexOf(endOfHead, start + delimiter.length - 2);
      if (end === -1) return this.#hold(bytes, start);
      const head = bytes.toString('latin1', start, end);
      if (isFile(head)) {
        this.#isDone = true;
        const withName = named(head);
        // The usual case: nothing is copied.
        if (withName === head) return bytes;
        const after = bytes.subarray(start + head.length);
        return Buffer.concat([bytes.subarray(0, start), Buffer.from(withName, 'latin1'), after]);
      }
      from = end;
    }
  }

  /** The bytes that are still held when the body ends. */
  rest(): Buffer {
    return this.#isDone ? Buffer.of() : this.#held;
  }

  #hold(bytes: Buffer, from: number): Buffer {
    this.#passedBytes += from;
    // A form with so many bytes before its file is refused anyway.
    if (this.#passedBytes + bytes.length - from > formOverheadBytes) {
      this.#isDone = true;
      return bytes;
    }
    this.#held = bytes.subarray(from);
    return bytes.subarray(0, from);
  }
}

/** With the lines that go on with white space. */
const disposition = /^content-disposition:[^\r\n]*(?:\r\n[ \t][^\r\n]*)*/im;
const isFile = (head: string) => /;\s*name=(?:"file"|file(?=[;\s]|$))/i.test(disposition.exec(head)?.[0] ?? '');

function named(head: string): string {
  return head.replace(disposition, (line) => {
    if (/;\s*filename\*?=(?!(?:""|\s*(?:;|$)))/i.test(line)) return line;
    return line.replace(/;\s*filename=(?:"")?\s*(?=;|$)/i, '') + fileName;
  });
}
