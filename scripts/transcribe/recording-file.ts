import { open } from 'node:fs/promises';
import { Refusal } from '../terminal/refusal.ts';
import { RecordingChanged } from './refusals.ts';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/** What tells one state of a file from another without reading it. */
interface FileState {
  bytes: number;
  /** ns since 1970, as text. */
  changedAt: string;
}

const stateOf = ({ size, mtimeNs }: BigIntStats): FileState => ({
  bytes: Number(size),
  changedAt: String(mtimeNs),
});

const chunkBytes = 64 * 1024;

/**
 * A recording that is held open while it is sent. Another file that gets its name meanwhile is not read, and
 * a change of its own bytes is noticed.
 */
export class RecordingFile implements AsyncDisposable {
  readonly path: string;
  readonly state: FileState;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle, state: FileState) {
    this.path = path;
    this.#handle = handle;
    this.state = state;
  }

  /** @throws {Refusal} when it is no file */
  static async open(path: string): Promise<RecordingFile> {
    const handle = await open(path);
    const status = await handle.stat({ bigint: true });
    if (status.isFile()) return new RecordingFile(path, handle, stateOf(status));
    await handle.close();
    throw new Refusal(`${path} is not a file`);
  }

  /**
   * All bytes.
   * @throws {RecordingChanged} at the end when the file was changed since it was opened
   * @throws {Refusal} when it can't be read
   */
  async *read(): AsyncGenerator<Uint8Array> {
    const { bytes } = this.state;
    for (let at = 0; at < bytes;) {
      const chunk = await this.#chunkAt(at, Math.min(chunkBytes, bytes - at));
      if (chunk.length === 0) break;
      at += chunk.length;
      yield chunk;
    }
    const now = stateOf(await this.#handle.stat({ bigint: true }));
    if (now.bytes !== bytes || now.changedAt !== this.state.changedAt)
      throw new RecordingChanged(`${this.path} was changed while it was read`);
  }

  async #chunkAt(position: number, length: number): Promise<Uint8Array> {
    try {
      const { buffer, bytesRead } = await this.#handle.read(Buffer.allocUnsafe(length), { position });
      return buffer.subarray(0, bytesRead);
    } catch (error) {
      throw new Refusal(`${this.path} can't be read: ${(error as Error).message}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}
