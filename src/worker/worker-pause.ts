/**
 * While the operator has a fault to fix, the worker takes no job. It looks again every few seconds and goes on by
 * itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppContext } from '../sessions/app-context.ts';

export const faultReasons = [
  'database',
  'store',
  'disk',
  'memory',
  'program',
  'server',
  'busy',
  'refused',
  'recognizer',
] as const;

export interface Fault {
  reason: (typeof faultReasons)[number];
  /** For the log and for `/readyz`: a sentence without its full stop. */
  message: string;
}

const pollIntervalMs = 3_000;
/**
 * A disk with this much room does not count as full. A recording that needs more is tried later, and others go before
 * it. So a recording that is too large for the disk does not stop the worker.
 */
export const enoughRoomBytes = 64 * 1024 ** 2;

type Needed = Pick<AppContext, 'log' | 'metrics'>;

export class WorkerPause {
  readonly #worker: Needed;
  readonly #look: (neededBytes: number) => Promise<Fault | undefined>;
  readonly #stopping: AbortSignal;
  #fault: Fault | undefined;
  #neededBytes = 0;
  /** When the recognizer's server had no room last. */
  #busyAt = -Infinity;
  /** Resolves when the worker goes on, or stops. */
  #ended: Promise<void> = Promise.resolve();

  /** @param look finds the fault that there is now */
  constructor(worker: Needed, look: (neededBytes: number) => Promise<Fault | undefined>, stopping: AbortSignal) {
    this.#worker = worker;
    this.#look = look;
    this.#stopping = stopping;
    for (const reason of faultReasons) worker.metrics.workerWaiting.set({ reason }, 0);
  }

  /** The fault that the worker waits for; undefined while the worker takes jobs. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** Whether recordings waited for room at the recognizer's server. @param since by `performance.now()` */
  lackedRoomSince(since: number): boolean {
    return this.#fault?.reason === 'busy' || this.#busyAt >= since;
  }

  /** @param neededBytes room that the disk must have before the worker goes on; 64 MiB at most */
  begin(fault: Fault, neededBytes: number): void {
    const needed = Math.min(neededBytes, enoughRoomBytes);
    this.#neededBytes = this.#fault === undefined ? needed : Math.min(this.#neededBytes, needed);
    if (this.#fault !== undefined || this.#stopping.aborted) return;
    this.#tell(fault);
    this.#ended = this.#wait();
  }

  async ended(): Promise<void> {
    await this.#ended;
  }

  async #wait(): Promise<void> {
    while (this.#fault !== undefined) {
      await sleep(pollIntervalMs, undefined, { signal: this.#stopping }).catch(() => {});
      if (this.#stopping.aborted) return;
      this.#tell(await this.#look(this.#neededBytes));
    }
  }

  /** Writes one line for each fault, and one when there is none any more. */
  #tell(fault: Fault | undefined): void {
    const { log, metrics } = this.#worker;
    const before = this.#fault;
    this.#fault = fault;
    if (before?.reason === 'busy') this.#busyAt = performance.now();
    if (fault?.reason === before?.reason) return;
    if (before !== undefined) metrics.workerWaiting.set({ reason: before.reason }, 0);
    if (fault === undefined) return log.info({ reason: before?.reason }, 'worker takes jobs again');
    metrics.workerWaiting.set({ reason: fault.reason }, 1);
    log.error({ reason: fault.reason }, `worker takes no jobs until this has been put right: ${fault.message}`);
  }
}
