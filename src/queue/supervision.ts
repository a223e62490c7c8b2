/**
 * Looks for jobs whose worker is gone (missed heartbeats, expiry). Such jobs go back to the queue.
 */

/** A worker that was silent for so long counts as dead. pg-boss allows no less than 10 s. */
export const heartbeatSeconds = 10;
/** How often a worker sends a heartbeat. Two in a row may be lost. */
export const heartbeatRefreshSeconds = 3;
/** How often a process looks for dead workers. */
export const lookSeconds = 5;
/** How often it looks while no worker holds a job, for the queue's own order. A look takes twenty statements. */
const restSeconds = 60;
/** After a delay of at most this, the heartbeats of living workers are still less than 10 s old. */
const harmlessDelayMs = 3_000;

export interface Supervised {
  /** Asks the database whether a worker holds a job. */
  ask(): Promise<boolean>;
  /** Takes jobs away from workers that are silent. */
  look(): Promise<void>;
  /** Hears why one of the two failed. */
  onError(error: Error): void;
}

/**
 * Looks every 5 s while there are jobs that a worker may have left, first after 10 s, until it is stopped.
 *
 * When the database or this process stood still, or the database could not be reached, every heartbeat looks old afterwards. The
 * next look then waits for 10 s, in which every living worker sends a new heartbeat.
 */
export async function supervise({ ask, look, onError }: Supervised, signal: AbortSignal): Promise<void> {
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  let lookedAt = -Infinity;
  for (let waitSeconds = heartbeatSeconds; !signal.aborted;) {
    const due = performance.now() + waitSeconds * 1_000;
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(() => over.resolve(), waitSeconds * 1_000);
    await Promise.race([over.promise, stopped]);
    clearTimeout(timer);
    if (signal.aborted) return;
    waitSeconds = heartbeatSeconds;
    try {
      const hasWork = await ask();
      const now = performance.now();
      if (now - due > harmlessDelayMs) continue;
      if (hasWork || now - lookedAt >= restSeconds * 1_000) {
        await look();
        lookedAt = now;
      }
      waitSeconds = lookSeconds;
    } catch (error) {
      onError(error as Error);
    }
  }
}
