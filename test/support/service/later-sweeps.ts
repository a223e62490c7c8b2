import { Suspects } from '../../../src/worker/suspects.ts';
import { sweep } from '../../../src/worker/sweeps.ts';
import type { Sweeper } from '../../../src/worker/sweeps.ts';

/**
 * Nobody can make a file old: the time of its last change is the kernel's. So two sweeps come from the future.
 *
 * @param laterMs how far they come from
 * @param apartMs between the first, which sees a file, and the second, which may remove it
 */
export async function sweepLater(worker: Sweeper, laterMs: number, apartMs = 10 * 60_000): Promise<void> {
  const suspects = new Suspects();
  // Whole: with fractions, what is ten minutes apart may be a little less.
  const [now, steadyNow] = [Date.now() + laterMs, Math.round(performance.now())];
  await sweep(worker, suspects, { now, steadyNow });
  await sweep(worker, suspects, { now, steadyNow: steadyNow + apartMs });
}
