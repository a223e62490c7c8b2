import { jest } from '../run/jest.ts';

/** What the service measures time with: each can be held by a test. Sockets, disk and database always go on. */
const clocks = {
  timeouts: ['setTimeout', 'clearTimeout'],
  intervals: ['setInterval', 'clearInterval'],
  performance: ['performance'],
  date: ['Date'],
} as const;

/**
 * From now on these stand still in the service of this process, and move by `jest.advanceTimersByTime`; until
 * `jest.useRealTimers`, at the end of each test at the latest.
 */
export function holdTheClock(...held: (keyof typeof clocks)[]): void {
  const others = (Object.keys(clocks) as (keyof typeof clocks)[]).filter((name) => !held.includes(name));
  const never = ['hrtime', 'nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const;
  jest.useFakeTimers({ doNotFake: [...never, ...others.flatMap((name) => clocks[name])] });
}
