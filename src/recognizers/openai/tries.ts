import { setTimeout as sleep } from 'node:timers/promises';
import { isOfCertificate } from './reasons.ts';
import { Refusal } from './refusal.ts';

export const longestTimerMs = 24 * 60 * 60_000;
/** Without a Retry-After, as OpenAI's own client does: from half a second, each time twice as long, up to 8 s. */
const firstPauseMs = 500;
const longestPauseMs = 8_000;
/** Clients that were refused together don't come back together. */
const jitter = 0.25;

/**
 * Asks again while a server is busy, broken or away, after the pause that it asks for.
 * @param ask hears how often it was asked before
 * @throws what the last try throws, and what cannot be repeated at once
 * @throws the abort reason of `signal`
 */
export async function tryAgain<Answer>(
  retries: number,
  signal: AbortSignal,
  ask: (earlier: number) => Promise<Answer>,
): Promise<Answer> {
  for (let earlier = 0; ; earlier += 1) {
    try {
      return await ask(earlier);
    } catch (error) {
      signal.throwIfAborted();
      if (earlier >= retries || !mayBeRepeated(error)) throw error;
      const asked = error instanceof Refusal ? error.retryAfterMs : undefined;
      await sleep(Math.min(asked ?? pauseMs(earlier), longestTimerMs), undefined, { signal });
    }
  }
}

const pauseMs = (earlier: number) =>
  Math.min(firstPauseMs * 2 ** earlier, longestPauseMs) * (1 - jitter * Math.random());

/** What was answered, and can't be read, would be answered again. */
function mayBeRepeated(error: unknown): boolean {
  if (error instanceof Refusal) return error.mayBeRepeated;
  return error instanceof TypeError && !isOfCertificate(error);
}
