import { availableParallelism } from 'node:os';
import { ModelProcessPool, processesThatFit } from './model-process-pool.ts';
import type { OfflineResult } from 'sherpa-onnx-node';
import type { SherpaModel } from './model-folder.ts';
import type { ModelProcessPoolOptions } from './model-process-pool.ts';

/** A model that is loaded and at work takes about twice its size on disk; all of them take half of the memory. */
export const copiesThatFit = (modelBytes: number, memoryBytes?: number) =>
  processesThatFit(2 * modelBytes, 0.5, memoryBytes);

/** Memory for Node, the addon and the recognition of a chunk, besides the model. */
const memoryBesideModel = 4 * 1024 ** 3;

/** More threads make a model little faster, and each takes address space. */
const mostThreads = 8;

export interface ModelCopiesOptions extends Pick<ModelProcessPoolOptions, 'timeLimitMs' | 'idleMs' | 'most'> {
  /** Processor cores; without it, those that this process may use. */
  cores?: number;
}

/**
 * The processes that hold a model. Few chunks get several threads each, so that they use all cores (up to eight for a
 * chunk); of many, each gets one.
 */
export class ModelCopies extends ModelProcessPool<OfflineResult> {
  readonly #most: number;
  readonly #cores: number;
  /** Of all recordings that are recognized now. */
  #chunks = 0;

  constructor({ config, bytes }: SherpaModel, { cores = availableParallelism(), ...limits }: ModelCopiesOptions) {
    const workWith = (numThreads: number) => ({ recognition: { ...config, numThreads } });
    super(workWith, { ...limits, memoryBytes: memoryBesideModel + 4 * bytes });
    this.#most = limits.most;
    this.#cores = cores;
  }

  /**
   * A share of the processor for one recording.
   * @param chunks of one recording that begins now
   * @returns how many threads hear each of its chunks
   */
  share(chunks: number) {
    this.#chunks += chunks;
    const atOnce = Math.max(1, Math.min(this.#most, this.#chunks));
    return {
      threads: Math.min(mostThreads, Math.max(1, Math.floor(this.#cores / atOnce))),
      giveBack: () => (this.#chunks -= chunks),
    };
  }

  /**
   * Lets the model hear a second of noise, as the first chunk of a recording. What it hears in it does not matter.
   * @throws {RecognizerError} the model can't be loaded, or does not run
   */
  async tryOut(): Promise<void> {
    const { threads, giveBack } = this.share(1);
    giveBack();
    await this.ask({ file: '/dev/urandom', fromMs: 0, toMs: 1_000 }, new AbortController().signal, threads);
  }
}
