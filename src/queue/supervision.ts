/**
 * Looks for jobs whose worker is gone (missed heartbeats, expiry). Such jobs go back to the queue, or become dead
 * letters.
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
  /** Asks the database whether a worker holds a job, or a dead letter waits. */
  ask(): Promise<boolean>;
  /** Takes jobs away from workers that are silent. */
  look(): Promise<void>;
  /** Hears why one of the two failed. */
  onError(error: Error): void;
}

export interface Supervision {
  /** Ends the looking. Resolves when the last look has ended. */
  stop(): Promise<void>;
}

/** Looks every 5 s while there are jobs that a worker may have left, first after 10 s, until it is stopped. */
export function startSupervision(supervised: Supervised): Supervision {
  const stopping = new AbortController();
  const ended = supervise(supervised, stopping.signal);
  return {
    stop() {
      stopping.abort();
      return ended;
    },
  };
}

/**
 * When the database or this process stood still, or the database could not be reached, every heartbeat looks old
 * afterwards. The next look then waits for 10 s, in which every living worker sends a new heartbeat.
 */
async function supervise({ ask, look, onError }: Supervised, signal: AbortSignal): Promise<void> {
  let lookedAt = -Infinity;
  for (let waitSeconds = heartbeatSeconds; !signal.aborted;) {
    const due = performance.now() + waitSeconds * 1_000;
    await pause(waitSeconds * 1_000, signal);
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

/** Ends early when `signal` aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
