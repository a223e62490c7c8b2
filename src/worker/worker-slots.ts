import type { WorkerSlots } from '../queue/taking.ts';
import type { WorkerContext } from './worker-context.ts';

/** Four and a half hours of audio take as much. */
const roomEachBytes = 1024 ** 3;

/**
 * How many jobs this worker holds: one for each core that they use. Where a server hears them, it holds as many as the
 * server needs, while the disk has room for each.
 */
export function workerSlots({
  config,
  recognizer,
  diskBudget,
}: Pick<WorkerContext, 'config' | 'recognizer' | 'diskBudget'>): WorkerSlots {
  const { workerConcurrency: cores } = config;
  return async (running) => {
    const useful = recognizer.jobsAtOnce?.() ?? 0;
    if (useful <= Math.max(cores, running)) return cores;
    const more = useful - running;
    // What is wrong with a disk that can't be asked, the next job finds out.
    const leftBytes = await diskBudget.leftBytes(more * roomEachBytes).catch(() => 0);
    return Math.max(cores, running + Math.min(more, Math.floor(leftBytes / roomEachBytes)));
  };
}
