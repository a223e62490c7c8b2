import { ExecutableNotFound } from '../../children/executable.ts';
import { RecognizerError } from '../recognizer.ts';
import { startWarmChild } from './warm-child.ts';
import type { ChildWork, PieceRequest } from './messages.ts';
import type { WarmChild } from './warm-child.ts';

/** Processes that have their models loaded, kept for the next piece and the next job. As many as pieces run at once. */
export class WarmChildren<Result> {
  readonly #work: ChildWork;
  readonly #memoryBytes: number;
  readonly #idle: WarmChild<Result>[] = [];
  readonly #busy = new Set<WarmChild<Result>>();

  /** @param memoryBytes address space of each */
  constructor(work: ChildWork, memoryBytes: number) {
    this.#work = work;
    this.#memoryBytes = memoryBytes;
  }

  /**
   * One that crashed, was aborted or took too long is replaced for the next piece.
   * @throws {RecognizerError}
   * @throws the abort reason of `signal`
   */
  async ask(request: PieceRequest, timeLimitMs: number, signal: AbortSignal): Promise<Result> {
    const child = this.#takeIdle() ?? (await this.#start());
    this.#busy.add(child);
    try {
      const result = await child.ask(request, timeLimitMs, signal);
      this.#idle.push(child);
      return result;
    } finally {
      this.#busy.delete(child);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((child) => child.kill()));
  }

  /** One that died while nobody needed it (out of memory, for one) must not cost a job an attempt. */
  #takeIdle(): WarmChild<Result> | undefined {
    while (this.#idle.length > 0) {
      const child = this.#idle.pop()!;
      if (child.isAlive()) return child;
    }
    return undefined;
  }

  #start(): Promise<WarmChild<Result>> {
    return startWarmChild<Result>(this.#work, this.#memoryBytes).catch((cause: unknown) => {
      if (!(cause instanceof ExecutableNotFound)) throw cause;
      throw new RecognizerError('recognizer_error', cause.message, { retryable: true, cause });
    });
  }
}
