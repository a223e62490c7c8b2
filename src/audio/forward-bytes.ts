import type { FileHandle } from 'node:fs/promises';

const windowBytes = 1024 * 1024;

/** A file that is read from its beginning to its end. */
export class ForwardBytes {
  readonly #file: FileHandle;
  #window = Buffer.alloc(0);
  #from = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** At most as many as asked for, fewer at the end of the file. */
  async at(position: number, length: number): Promise<Buffer> {
    if (position < this.#from || position + length > this.#from + this.#window.length) {
      const window = Buffer.alloc(windowBytes);
      const { bytesRead } = await this.#file.read(window, 0, windowBytes, position);
      this.#window = window.subarray(0, bytesRead);
      this.#from = position;
    }
    return this.#window.subarray(position - this.#from, position - this.#from + length);
  }

  /** Where some bytes come next. */
  async find(wanted: Buffer, from: number): Promise<number | undefined> {
    for (let position = from; ; position += windowBytes - wanted.length) {
      const bytes = await this.at(position, windowBytes);
      const found = bytes.indexOf(wanted);
      if (found >= 0) return position + found;
      if (bytes.length < windowBytes) return undefined;
    }
  }
}
