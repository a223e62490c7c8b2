import { ExecutableNotFound } from '../../children/executable.ts';
import { RecognizerError } from '../recognizer.ts';
import { startWarmChild } from './warm-child.ts';
import type { ChildWork, PieceRequest } from './messages.ts';
import type { WarmChild } from './warm-child.ts';

interface Idle<Result> {
  child: WarmChild<Result>;
  /** Ends it when it has been idle for too long. */
  timer: NodeJS.Timeout;
}

/**
 * Processes that have their models loaded, kept for the next piece and the next job. As many as pieces run at once. One
 * that has nothing to do for a while ends, and gives the memory of its model back.
 */
export class WarmChildren<Result> {
  readonly #work: ChildWork;
  readonly #memoryBytes: number;
  readonly #idleMs: number;
  readonly #idle: Idle<Result>[] = [];
  readonly #busy = new Set<WarmChild<Result>>();

  /**
   * @param memoryBytes address space of each
   * @param idleMs how long one is kept that has nothing to do
   */
  constructor(work: ChildWork, memoryBytes: number, idleMs: number) {
    this.#work = work;
    this.#memoryBytes = memoryBytes;
    this.#idleMs = idleMs;
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
      this.#keep(child);
      return result;
    } finally {
      this.#busy.delete(child);
    }
  }

  async close(): Promise<void> {
    const idle = this.#idle.splice(0).map(({ child, timer }) => (clearTimeout(timer), child));
    await Promise.all([...idle, ...this.#busy].map((child) => child.kill()));
  }

  #keep(child: WarmChild<Result>): void {
    const end = () => {
      this.#idle.splice(this.#idle.indexOf(idle), 1);
      void child.kill();
    };
    const idle = { child, timer: setTimeout(end, this.#idleMs).unref() };
    this.#idle.push(idle);
  }

  /** One that died while nobody needed it (out of memory, for one) must not cost a job an attempt. */
  #takeIdle(): WarmChild<Result> | undefined {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      clearTimeout(last.timer);
      if (last.child.isAlive()) return last.child;
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
