import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a condition; answers how many ms it took. */
export async function until(condition: () => Promise<boolean> | boolean, withinMs = 10_000): Promise<number> {
  const began = performance.now();
  for (;;) {
    if (await condition()) return performance.now() - began;
    if (performance.now() - began > withinMs) throw new Error(`not so within ${withinMs} ms: ${condition}`);
    await sleep(10);
  }
}
