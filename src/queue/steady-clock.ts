/**
 * Time for the queue's timers which no correction of the system's clock moves: set back by an hour, pg-boss's own would
 * wait that hour longer before it looks for dead workers again.
 */
export const steadyClock = {
  /** ms since the epoch, by the system's clock as it was when this process began. */
  now: (): number => performance.timeOrigin + performance.now(),
  setTimeout: (run: () => void, ms: number): unknown => setTimeout(run, ms),
  setInterval: (run: () => void, ms: number): unknown => setInterval(run, ms),
  clearTimeout: (timer: unknown): void => clearTimeout(timer as NodeJS.Timeout),
  clearInterval: (timer: unknown): void => clearInterval(timer as NodeJS.Timeout),
};
