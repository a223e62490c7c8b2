/**
 * The time for the queue's timers. No correction of the system's clock moves it. If that clock were set back by an
 * hour, pg-boss's own timers would look for dead workers an hour later.
 */
export const steadyClock = {
  /** ms since the epoch, by the system's clock as it was when this process began. */
  now: (): number => performance.timeOrigin + performance.now(),
  setTimeout: (run: () => void, ms: number): unknown => setTimeout(run, ms),
  setInterval: (run: () => void, ms: number): unknown => setInterval(run, ms),
  clearTimeout: (timer: unknown): void => clearTimeout(timer as NodeJS.Timeout),
  clearInterval: (timer: unknown): void => clearInterval(timer as NodeJS.Timeout),
};
