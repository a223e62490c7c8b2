import { totalmem } from 'node:os';
import { ExecutableNotFound } from '../../children/bounded-command.ts';
import { createSlots } from '../in-chunks.ts';
import { RecognizerError } from '../recognizer.ts';
import { startModelProcess } from './model-process.ts';
import type { Slots } from '../in-chunks.ts';
import type { ChildWork, Complaint, ChunkRequest } from './messages.ts';
import type { ModelProcess } from './model-process.ts';

interface Place<Result> {
  /** Undefined while it starts. */
  child: ModelProcess<Result> | undefined;
  threads: number;
  isBusy: boolean;
  /** Ends it when it has been idle for too long. */
  timer?: NodeJS.Timeout;
}

export interface ModelProcessPoolOptions {
  /** What messages say of an error. */
  explain?: (message: string) => string;
  /** Address space of each. */
  memoryBytes: number;
  /** How long one is kept that has nothing to do. */
  idleMs: number;
  /** Wall-clock time for a chunk of that length, including the loading of the models. */
  timeLimitMs: (durationMs: number) => number;
  /** So many are there at once, and kept. Whoever asks for more waits. */
  most: number;
}

/**
 * Processes that have their models loaded, kept for the next chunk and the next job. One that has nothing to do for a
 * while ends, and gives the memory of its model back.
 */
export class ModelProcessPool<Result> {
  readonly #workWith: (threads: number) => ChildWork;
  readonly #options: ModelProcessPoolOptions;
  readonly #slots: Slots;
  /** Those that were busy last come last. */
  #places: Place<Result>[] = [];

  /** @param workWith what a process of so many threads is started for */
  constructor(workWith: (threads: number) => ChildWork, options: ModelProcessPoolOptions) {
    this.#workWith = workWith;
    this.#options = options;
    this.#slots = createSlots(options.most);
  }

  /**
   * One that crashed, was aborted or took too long is replaced for the next chunk.
   * @param threads that the process should have. Where there is no memory for another one, it has what it has.
   * @throws {RecognizerError}
   * @throws the abort reason of `signal`
   */
  ask(request: ChunkRequest, signal: AbortSignal, threads = 1): Promise<Result & Complaint> {
    return this.#slots.run(() => this.#askOne(request, signal, threads), signal);
  }

  async close(): Promise<void> {
    for (const { timer } of this.#places) clearTimeout(timer);
    await Promise.all(this.#places.flatMap(({ child }) => child?.kill() ?? []));
    this.#places = [];
  }

  async #askOne(request: ChunkRequest, signal: AbortSignal, threads: number): Promise<Result & Complaint> {
    const { explain = (message) => message, memoryBytes, idleMs, timeLimitMs } = this.#options;
    const place = this.#placeFor(threads);
    clearTimeout(place.timer);
    place.isBusy = true;
    try {
      place.child ??= await startModelProcess<Result>(this.#workWith(place.threads), memoryBytes);
      return await place.child.ask(request, timeLimitMs(request.toMs - request.fromMs), signal);
    } catch (cause) {
      if (!(cause instanceof RecognizerError || cause instanceof ExecutableNotFound)) throw cause;
      const code = cause instanceof RecognizerError ? cause.code : 'recognizer_error';
      throw new RecognizerError(code, explain(cause.message), { retryable: true, cause });
    } finally {
      place.isBusy = false;
      this.#remove(place);
      if (place.child?.isAlive()) {
        this.#places.push(place);
        place.timer = setTimeout(() => {
          this.#remove(place);
          void place.child?.kill();
        }, idleMs).unref();
      }
    }
  }

  #placeFor(threads: number): Place<Result> {
    // An idle process that died (out of memory, for one) must not cost a job an attempt.
    this.#places = this.#places.filter(({ isBusy, child }) => isBusy || child?.isAlive());
    const idle = this.#places.filter(({ isBusy }) => !isBusy);
    const hasRoom = this.#places.length < this.#options.most;
    const found = idle.findLast((place) => place.threads === threads) ?? (hasRoom ? undefined : idle.at(-1));
    if (found !== undefined) return found;
    const place = { child: undefined, threads, isBusy: true };
    this.#places.push(place);
    return place;
  }

  #remove(place: Place<Result>): void {
    this.#places = this.#places.filter((other) => other !== place);
  }
}

/**
 * How many processes may be there at once, at least one.
 * @param bytesOfEach memory that one takes
 * @param share of the memory that all of them may take. The rest is for PostgreSQL, the API, ffmpeg and each other.
 * @param memoryBytes of this machine, or of the control group that this process is in
 */
export function processesThatFit(bytesOfEach: number, share: number, memoryBytes = availableMemory()): number {
  return Math.max(1, Math.floor((memoryBytes * share) / bytesOfEach));
}

const availableMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity);
