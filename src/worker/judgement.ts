/** Whether an attempt failed by the operator's fault. Such an attempt does not count. */
import { AudioError } from '../audio/audio-error.ts';
import { operatorFaultBehind } from '../operator-fault.ts';
import { LanguageNotKnown, RecognizerError } from '../recognizers/recognizer.ts';
import { ClaimLost, NotCovered, TimeIsUp } from './outcomes.ts';
import type { WorkerContext } from './context.ts';

/**
 * Looks for the operator's fault if the error may come from one. Call it after the attempt has removed its files: they
 * must not make the disk look full.
 *
 * - When a fault is found, the worker takes no more jobs until it is fixed, and the session goes back at once.
 * - When none is found any more, the session goes back up to five times, each time for longer. After that, attempts
 *   count. Otherwise a file on which ffmpeg always runs out of memory would be tried for ever.
 *
 * @param neededBytes room on the disk that the session needs
 * @returns after how many seconds the session is tried again; undefined when the fault is not the operator's
 */
export async function operatorsFault(
  error: unknown,
  sessionId: string,
  neededBytes: number,
  { faultNow, standstill, freeAttempts, log }: WorkerContext,
): Promise<{ comesAgainAfterSeconds: number } | undefined> {
  if (isJudged(error)) return undefined;
  const fault = await faultNow(neededBytes);
  if (fault !== undefined) standstill.begin(fault, neededBytes);
  const isOver = fault === undefined && operatorFaultBehind(error) !== undefined;
  const comesAgainAfterSeconds = isOver ? freeAttempts.take(sessionId) : fault && 0;
  if (comesAgainAfterSeconds === undefined) return undefined;
  log.warn({ err: error, sessionId, fault: fault?.reason }, 'the attempt is not spent: what failed is not the audio');
  return { comesAgainAfterSeconds };
}

/**
 * Whether the error certainly has nothing to do with disks and programs: it is about the audio, its language, the
 * balance, the claim or the time. `unsupported_media` is not certain, because a full disk may be the reason why nothing
 * could be decoded.
 */
function isJudged(error: unknown): boolean {
  if (error instanceof AudioError) return error.code !== 'unsupported_media';
  const hasTimedOut = error instanceof RecognizerError && error.code === 'timed_out';
  return [ClaimLost, NotCovered, TimeIsUp, LanguageNotKnown].some((kind) => error instanceof kind) || hasTimedOut;
}
