import { setTimeout as pause } from 'node:timers/promises';

/**
 * Reads again and again until what it reads holds, and answers that.
 *
 * @param holds true for what is waited for; without it, whatever is neither false, undefined, null, 0 nor ''
 * @param withinMs ms; guards against waiting for ever and says nothing of how fast it has to be. Without it, a little less
 *   than the test may take, so that the test's end says what it waited for
 */
export async function until<T>(
  read: () => T | Promise<T>,
  holds: (value: T) => boolean = Boolean,
  withinMs = almostTheLimit(),
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

const almostTheLimit = () => timeLimitMs() * 0.9;

/** What a test may take. Tests of the whole system start, kill and wait for processes: three times as long. */
export function timeLimitMs(): number {
  const { TEST_TIME_LIMIT_MS: limit } = process.env;
  if (limit === undefined) return 600_000;
  return Number(limit) * (expect.getState().testPath?.endsWith('.system.test.ts') ? 3 : 1);
}
