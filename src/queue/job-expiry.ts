/** How long a job may be active before the queue takes it away. */

const maxExpirySeconds = 24 * 60 * 60;
/** How much earlier than the queue the worker itself ends an attempt. */
export const expiryMarginSeconds = 30;

/** An attempt may take 15 minutes and four times the audio, 24 hours at most. @param durationMs of the audio */
export function expirySeconds(durationMs: number): number {
  return Math.min(maxExpirySeconds, 15 * 60 + Math.ceil((4 * durationMs) / 1000) + expiryMarginSeconds);
}
