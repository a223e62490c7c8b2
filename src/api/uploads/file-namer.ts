/**
 * Gives the part `file` a file name if it has none (RFC 7578, section 4.2, only recommends one). busboy takes a part
 * without a file name for text and would cut and decode it. Only bytes before the first byte of the part's content are
 * looked at.
 */
import { formOverheadBytes } from './size.ts';

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
