import { totalmem } from 'node:os';
import { ExecutableNotFound } from '../../children/bounded-command.ts';
import { RecognizerError } from '../recognizer.ts';
import { startWarmChild } from './warm-child.ts';
import type { ChildWork, Complaint, PieceRequest } from './messages.ts';
import type { WarmChild } from './warm-child.ts';

interface Kept<Result> {
  child: WarmChild<Result>;
  threads: number;
}

interface Idle<Result> extends Kept<Result> {
  /** Ends it when it has been idle for too long. */
  timer: NodeJS.Timeout;
}

/**
 * Processes that have their models loaded, kept for the next piece and the next job. One that has nothing to do for a
 * while ends, and gives the memory of its model back.
 */
export class WarmChildren<Result> {
  readonly #workWith: (threads: number) => ChildWork;
  readonly #memoryBytes: number;
  readonly #idleMs: number;
  readonly #most: number;
  readonly #idle: Idle<Result>[] = [];
  readonly #busy = new Set<Kept<Result>>();
  #starting = 0;

  /**
   * @param workWith what a process of so many threads is started for
   * @param memoryBytes address space of each
   * @param idleMs how long one is kept that has nothing to do
   * @param most processes for which there is memory. No more are kept; more than this are never asked at once.
   */
  constructor(workWith: (threads: number) => ChildWork, memoryBytes: number, idleMs: number, most = Infinity) {
    this.#workWith = workWith;
    this.#memoryBytes = memoryBytes;
    this.#idleMs = idleMs;
    this.#most = most;
  }

  /**
   * One that crashed, was aborted or took too long is replaced for the next piece.
   * @param threads that the process should have. Where there is no memory for another one, it has what it has.
   * @throws {RecognizerError}
   * @throws the abort reason of `signal`
   */
  async ask(request: PieceRequest, timeLimitMs: number, signal: AbortSignal, threads = 1): Promise<Result & Complaint> {
    const kept = this.#takeIdle(threads) ?? (await this.#start(threads));
    this.#busy.add(kept);
    try {
      const result = await kept.child.ask(request, timeLimitMs, signal);
      this.#keep(kept);
      return result;
    } finally {
      this.#busy.delete(kept);
    }
  }

  async close(): Promise<void> {
    const idle = this.#idle.splice(0).map(({ child, timer }) => (clearTimeout(timer), child));
    await Promise.all([...idle, ...[...this.#busy].map(({ child }) => child)].map((child) => child.kill()));
  }

  #keep(kept: Kept<Result>): void {
    const end = () => {
      this.#idle.splice(this.#idle.indexOf(idle), 1);
      void kept.child.kill();
    };
    const idle = { ...kept, timer: setTimeout(end, this.#idleMs).unref() };
    this.#idle.push(idle);
  }

  /** @returns the one that was busy last; undefined when another should be started */
  #takeIdle(threads: number): Kept<Result> | undefined {
    this.#forgetDead();
    const hasRoom = this.#idle.length + this.#busy.size + this.#starting < this.#most;
    const alike = this.#idle.findLastIndex((idle) => idle.threads === threads);
    const index = alike === -1 && !hasRoom ? this.#idle.length - 1 : alike;
    if (index === -1) return undefined;
    const [{ child, threads: own, timer }] = this.#idle.splice(index, 1) as [Idle<Result>];
    clearTimeout(timer);
    return { child, threads: own };
  }

  /** One that died while nobody needed it (out of memory, for one) must not cost a job an attempt. */
  #forgetDead(): void {
    const dead = this.#idle.filter(({ child }) => !child.isAlive());
    for (const idle of dead) {
      clearTimeout(idle.timer);
      this.#idle.splice(this.#idle.indexOf(idle), 1);
    }
  }

  async #start(threads: number): Promise<Kept<Result>> {
    // Counted at once: the pieces of a recording ask together.
    this.#starting += 1;
    try {
      return { child: await startWarmChild<Result>(this.#workWith(threads), this.#memoryBytes), threads };
    } catch (cause) {
      if (!(cause instanceof ExecutableNotFound)) throw cause;
      throw new RecognizerError('recognizer_error', cause.message, { retryable: true, cause });
    } finally {
      this.#starting -= 1;
    }
  }
}

/** A model that is loaded and at work takes about twice its size on disk. */
const bytesPerByte = 2;
/**
 * The part of the memory that models may take. The rest is for PostgreSQL, the API, ffmpeg and the models that tell
 * speakers apart.
 */
const shareOfModels = 0.5;

/**
 * How many processes may hold a model at once, at least one.
 * @param modelBytes of all files of the model
 * @param memoryBytes of this machine, or of the control group that this process is in
 */
export function copiesThatFit(modelBytes: number, memoryBytes = availableMemory()): number {
  return Math.max(1, Math.floor((memoryBytes * shareOfModels) / (modelBytes * bytesPerByte)));
}

/** What one that tells speakers apart takes for a window of 20 minutes, with CAM++. For 100 s it takes 370 MB. */
const diarizerBytes = 650_000_000;
const shareOfDiarizers = 0.25;

/** How many processes may tell speakers apart at once, at least one. */
export function diarizersThatFit(memoryBytes = availableMemory()): number {
  return Math.max(1, Math.floor((memoryBytes * shareOfDiarizers) / diarizerBytes));
}

const availableMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity);
