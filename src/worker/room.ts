/** Room on the disk for decoded audio: what is free, less what running jobs of this process were promised and have not written yet. */
import { availableParallelism } from 'node:os';
import { bytesPerMs } from '../audio/samples.ts';
import type { Attempt } from '../../db/sessions/attempts.ts';
import type { WorkFolder } from '../files/work-folder.ts';

/** A piece that a recognizer hears is a file of its own while it does. None is longer than this. */
const longestPieceMs = 190_000;

/**
 * What an attempt writes at most: the decoded audio, and beside it the pieces that are recognized at once.
 *
 * @param durationMs measured; a decoded recording may be 1 % and a second longer
 */
export function bytesNeeded(durationMs: number): number {
  const decoded = Math.ceil(durationMs * 1.01 + 1000) * bytesPerMs;
  return decoded + Math.min(decoded, availableParallelism() * longestPieceMs * bytesPerMs);
}

export interface PromisedRoom {
  /** From now on what this attempt has written counts as no longer needed. */
  isOf(attempt: Attempt): void;
  giveBack(): void;
}

export class Room {
  readonly #workFolder: WorkFolder;
  readonly #promises = new Set<{ bytes: number; attempt?: Attempt }>();

  constructor(workFolder: WorkFolder) {
    this.#workFolder = workFolder;
  }

  /** What is free beside what running jobs still need. May be negative. */
  async leftBytes(): Promise<number> {
    const promises = [...this.#promises];
    const stillNeeded = await Promise.all(
      promises.map(async ({ bytes, attempt }) =>
        Math.max(0, bytes - (attempt === undefined ? 0 : await this.#workFolder.writtenBytes(attempt))),
      ),
    );
    return (await this.#workFolder.freeBytes()) - stillNeeded.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Promises room to a job. @returns how many bytes are missing when there is not enough */
  async take(bytes: number): Promise<PromisedRoom | { missingBytes: number }> {
    // Promised before it is looked for: of two jobs that come at once, both must not get the same room.
    const promise: { bytes: number; attempt?: Attempt } = { bytes };
    this.#promises.add(promise);
    const left = await this.leftBytes().catch((error: unknown) => {
      this.#promises.delete(promise);
      throw error;
    });
    if (left < 0) {
      this.#promises.delete(promise);
      return { missingBytes: -left };
    }
    return {
      isOf: (attempt) => void (promise.attempt = attempt),
      giveBack: () => void this.#promises.delete(promise),
    };
  }
}
