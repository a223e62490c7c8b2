import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Does something again and again. What fails is tried again, because what it needs may be away.
 * @returns stops, when the last one has ended
 */
export function allTheWhile(everyMs: number, act: () => Promise<unknown>): () => Promise<void> {
  const stopped = new AbortController();
  const keepActing = async () => {
    while (!stopped.signal.aborted) {
      await act().catch(() => {});
      await sleep(everyMs, undefined, { signal: stopped.signal }).catch(() => {});
    }
  };
  const ended = keepActing();
  return () => {
    stopped.abort();
    return ended;
  };
}
