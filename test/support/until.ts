import { setTimeout as pause } from 'node:timers/promises';

/**
 * Reads again and again until what it reads holds, and answers that.
 *
 * @param holds true for what is waited for; without it, whatever is neither false, undefined, null, 0 nor ''
 * @param withinMs ms; guards against waiting for ever and says nothing of how fast it has to be
 */
export async function until<T>(
  read: () => T | Promise<T>,
  holds: (value: T) => boolean = Boolean,
  withinMs = 500_000,
): Promise<T> {
  // Tests hold `performance`, and never this clock.
  const began = process.hrtime.bigint();
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (process.hrtime.bigint() - began > BigInt(withinMs) * 1_000_000n)
      throw new Error(`${read} was ${JSON.stringify(value)} for ${withinMs} ms, and never ${holds}`);
    await pause(10);
  }
}
