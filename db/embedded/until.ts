import { setTimeout as pause } from 'node:timers/promises';

/**
 * Asks again and again until there is an answer.
 * @param ask returns undefined (or false) as long as there is none
 * @param limitMs ms
 * @returns the answer, or undefined when there was none within the limit
 */
export async function until<Answer>(
  ask: () => Answer | undefined | false | Promise<Answer | undefined | false>,
  limitMs: number,
): Promise<Answer | undefined> {
  const end = performance.now() + limitMs;
  for (let waitMs = 5; ; waitMs = Math.min(waitMs * 1.5, 100)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() >= end) return undefined;
    await pause(waitMs);
  }
}

/**
 * Does the work, and says `message` once when it takes longer than a few seconds, so that nobody thinks that it hangs.
 */
export async function withNotice<Result>(
  notice: (message: string) => void,
  message: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const timer = setTimeout(notice, 3_000, message);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
