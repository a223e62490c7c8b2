/** Whether an attempt failed by the operator's fault: then it is not spent. */
import { AudioError } from '../audio/audio-error.ts';
import { operatorFaultBehind } from '../operator-fault.ts';
import { RecognizerError } from '../recognizers/recognizer.ts';
import { ClaimLost, NotCovered, TimeIsUp } from './outcomes.ts';
import type { WorkerContext } from './context.ts';

/**
 * Looks for what is wrong, if the error may come from it. To be called when the attempt has tidied up: what it wrote must
 * not count as a full disk.
 *
 * - Something is wrong: the worker takes no more jobs until it has been put right, and the session goes back at once.
 * - Nothing is wrong any more: the session goes back, for longer each time, five times. After that the attempt is spent,
 *   or a file on which ffmpeg always runs out of memory would go round for ever.
 *
 * @param neededBytes room on the disk that the session needs
 * @returns after how many seconds the session is to come again; undefined when the fault is not the operator's
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
 * What tells of the audio, the balance, the claim or the time has nothing to do with disks and programs. That nothing could
 * be decoded may also come from a disk without room.
 */
function isJudged(error: unknown): boolean {
  if (error instanceof AudioError) return error.code !== 'unsupported_media';
  const hasTimedOut = error instanceof RecognizerError && error.code === 'timed_out';
  return [ClaimLost, NotCovered, TimeIsUp].some((kind) => error instanceof kind) || hasTimedOut;
}
