/**
 * Room on the disk for decoded audio: free bytes, less those that are promised to running jobs of this process and not
 * written yet.
 */
import { availableParallelism } from 'node:os';
import { bytesPerMs } from '../audio/samples.ts';
import type { Attempt } from '../../db/sessions/attempts.ts';
import type { WorkFolder } from '../files/work-folder.ts';

/** While a chunk is recognized, it is a file of its own. No chunk is longer than this. */
const longestChunkMs = 190_000;

/**
 * The most bytes that an attempt writes: the decoded audio and the chunks that are recognized at once.
 *
 * @param durationMs as measured; decoded audio may be 1 % and one second longer
 */
export function bytesNeeded(durationMs: number): number {
  const decoded = Math.ceil(durationMs * 1.01 + 1000) * bytesPerMs;
  return decoded + Math.min(decoded, availableParallelism() * longestChunkMs * bytesPerMs);
}

export interface DiskReservation {
  readonly bytes: number;
  /** Names the attempt that the promise belongs to. Bytes that it has written are not counted twice from now on. */
  isOf(attempt: Attempt): void;
  giveBack(): void;
}

export class DiskBudget {
  readonly #workFolder: WorkFolder;
  readonly #promises = new Set<{ bytes: number; attempt?: Attempt }>();

  constructor(workFolder: WorkFolder) {
    this.#workFolder = workFolder;
  }

  /** How many jobs have a promise. */
  get jobs(): number {
    return this.#promises.size;
  }

  /** Free bytes less those that running jobs still need. May be negative. */
  async leftBytes(): Promise<number> {
    const stillNeeded = await Promise.all(
      [...this.#promises].map(async ({ bytes, attempt }) =>
        Math.max(0, bytes - (attempt === undefined ? 0 : await this.#workFolder.writtenBytes(attempt))),
      ),
    );
    return (await this.#workFolder.freeBytes()) - stillNeeded.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Promises room to a job. @returns how many bytes are missing when there is not enough */
  async take(bytes: number): Promise<DiskReservation | { missingBytes: number }> {
    // The promise is made before the room is looked at. Otherwise two jobs that come at once would get the same room.
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
      bytes,
      isOf: (attempt) => void (promise.attempt = attempt),
      giveBack: () => void this.#promises.delete(promise),
    };
  }
}
