import { availableParallelism } from 'node:os';
import { createSlots } from '../in-chunks.ts';
import { ModelProcessPool, processesThatFit } from './model-process-pool.ts';
import type { Slots } from '../in-chunks.ts';
import type { OfflineResult } from 'sherpa-onnx-node';
import type { Complaint, ChunkRequest } from './messages.ts';
import type { SherpaModel } from './model-folder.ts';

/** A model that is loaded and at work takes about twice its size on disk; all of them take half of the memory. */
export const copiesThatFit = (modelBytes: number, memoryBytes?: number) =>
  processesThatFit(2 * modelBytes, 0.5, memoryBytes);

/** Memory for Node, the addon and the recognition of a chunk, besides the model. */
const memoryBesideModel = 4 * 1024 ** 3;

/** More threads make a model little faster, and each takes address space. */
const mostThreads = 8;

export interface ModelCopiesOptions {
  /** How many chunks run at once, if so many copies of the model fit into memory. */
  slots: Slots;
  /** Wall-clock time for a chunk of that length, including the loading of the model. */
  timeLimitMs: (durationMs: number) => number;
  idleMs: number;
  /** Processor cores; without it, those that this process may use. */
  cores?: number | undefined;
  /** Processes that there is memory for; without it, see {@link copiesThatFit}. */
  most?: number;
}

/** A share of the processor for one recording. */
export interface Share {
  /** How many threads hear each of its chunks. */
  threads: number;
  giveBack(): void;
}

/**
 * The processes that hold a model. Few chunks get several threads each, so that they use all cores (up to eight for a
 * chunk); of many, each gets one.
 */
export class ModelCopies {
  readonly #options: ModelCopiesOptions;
  readonly #copies: Slots;
  readonly #cores: number;
  readonly #children: ModelProcessPool<OfflineResult>;
  /** Of all recordings that are heard now. */
  #chunks = 0;

  constructor({ config, bytes }: SherpaModel, options: ModelCopiesOptions) {
    const { slots, idleMs, cores = availableParallelism(), most = copiesThatFit(bytes) } = options;
    this.#options = options;
    this.#cores = cores;
    this.#copies = createSlots(Math.min(slots.count, most));
    const workWith = (numThreads: number) => ({ recognition: { ...config, numThreads } });
    this.#children = new ModelProcessPool(workWith, { memoryBytes: memoryBesideModel + 4 * bytes, idleMs, most });
  }

  /** @param chunks of one recording that begins now */
  share(chunks: number): Share {
    this.#chunks += chunks;
    const atOnce = Math.max(1, Math.min(this.#copies.count, this.#chunks));
    return {
      threads: Math.min(mostThreads, Math.max(1, Math.floor(this.#cores / atOnce))),
      giveBack: () => (this.#chunks -= chunks),
    };
  }

  /**
   * @throws {RecognizerError}
   * @throws the abort reason of `stop`
   */
  hear(request: ChunkRequest, threads: number, stop: AbortSignal): Promise<OfflineResult & Complaint> {
    const limitMs = this.#options.timeLimitMs(request.toMs - request.fromMs);
    return this.#copies.run(() => this.#children.ask(request, limitMs, stop, threads), stop);
  }

  /**
   * Lets the model hear a second of noise, as the first chunk of a recording. What it hears in it does not matter.
   * @throws {RecognizerError} the model can't be loaded, or does not run
   */
  async tryOut(): Promise<void> {
    const share = this.share(1);
    try {
      await this.hear({ file: '/dev/urandom', fromMs: 0, toMs: 1_000 }, share.threads, new AbortController().signal);
    } finally {
      share.giveBack();
    }
  }

  close(): Promise<void> {
    return this.#children.close();
  }
}
