import { startWarmChild } from './warm-child.ts';
import type { OfflineModelConfig } from 'sherpa-onnx-node';
import type { PieceRequest, PieceResult } from './messages.ts';
import type { WarmChild } from './warm-child.ts';

/** Processes that have the model loaded, kept for the next piece and the next job. As many as pieces run at once. */
export class WarmChildren {
  readonly #model: OfflineModelConfig;
  readonly #memoryBytes: number;
  readonly #idle: WarmChild[] = [];
  readonly #busy = new Set<WarmChild>();

  /** @param memoryBytes address space of each */
  constructor(model: OfflineModelConfig, memoryBytes: number) {
    this.#model = model;
    this.#memoryBytes = memoryBytes;
  }

  /**
   * One that crashed, was aborted or took too long is replaced for the next piece.
   * @throws {RecognizerError}
   * @throws {ExecutableNotFound}
   * @throws the abort reason of `signal`
   */
  async recognize(request: PieceRequest, timeLimitMs: number, signal: AbortSignal): Promise<PieceResult> {
    const child = this.#takeIdle() ?? (await startWarmChild(this.#model, this.#memoryBytes));
    this.#busy.add(child);
    try {
      const result = await child.recognize(request, timeLimitMs, signal);
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
  #takeIdle(): WarmChild | undefined {
    while (this.#idle.length > 0) {
      const child = this.#idle.pop()!;
      if (child.isAlive()) return child;
    }
    return undefined;
  }
}
