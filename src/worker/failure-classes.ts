/** Whether an attempt failed by the operator's fault. Such an attempt does not count. */
import { isDatabasesFault } from '../../db/connection/database-errors.ts';
import { mostFreeAttempts } from '../../db/sessions/free-attempts.ts';
import { AudioError } from '../audio/audio-error.ts';
import { AudioUnreadable } from '../files/audio-store.ts';
import { operatorFaultBehind } from '../ops/operator-fault.ts';
import { LanguageNotKnown, RecognizerError } from '../recognizers/recognizer.ts';
import { ClaimLost, NotCovered, TimeIsUp } from './outcomes.ts';
import type { Attempt, Claim } from '../../db/sessions/attempts.ts';
import type { WorkerContext } from './worker-context.ts';
import type { GivenBack } from './outcomes.ts';

interface Failed {
  attempt: Attempt;
  claim: Pick<Claim, 'free_attempts'>;
  /** Room on the disk that the session needs. */
  room: { neededBytes: number };
}

/**
 * Looks for the operator's fault if the error may come from one. Call it after the attempt has removed its files: they
 * must not make the disk look full.
 *
 * - When a fault is found, the worker takes no more jobs until it is fixed, and the session goes back at once.
 * - When none is found any more, or the recognizer's server is away, it goes back as well, each time for longer, but
 *   spends a free attempt. Otherwise a file on which ffmpeg always runs out of memory, or which makes the server crash,
 *   would be tried for ever.
 *
 * @returns undefined when the attempt counts
 */
export async function classifyFailure(
  error: unknown,
  { attempt: { sessionId }, claim, room: { neededBytes } }: Failed,
  { faultNow, pause, log }: Pick<WorkerContext, 'faultNow' | 'pause' | 'log'>,
): Promise<GivenBack | undefined> {
  if (isJudged(error)) return undefined;
  const fault = await faultNow(neededBytes);
  if (fault !== undefined) pause.begin(fault, neededBytes);
  const isOver = fault === undefined && (operatorFaultBehind(error) !== undefined || isDatabasesFault(error));
  const spendsFreeAttempt = isOver || fault?.reason === 'server';
  if (fault === undefined && !isOver) return undefined;
  if (spendsFreeAttempt && claim.free_attempts >= mostFreeAttempts) return undefined;
  log.warn({ err: error, sessionId, fault: fault?.reason }, 'the attempt is not spent: what failed is not the audio');
  return { comesAgainAfterSeconds: spendsFreeAttempt ? pauseSeconds(claim.free_attempts) : 0, spendsFreeAttempt };
}

/** 5, 20, 80, 300 and 300 s: a lack of memory that lasts ten minutes costs no session an attempt that counts. */
const pauseSeconds = (taken: number) => Math.min(300, 5 * 4 ** taken);

/**
 * Whether the error certainly has nothing to do with disks and programs: it is about the audio, its language, the
 * balance, the claim or the time. `unsupported_media` is not certain, because a full disk may be the reason why nothing
 * could be decoded.
 */
function isJudged(error: unknown): boolean {
  if (error instanceof AudioError) return error.code !== 'unsupported_media';
  const hasTimedOut = error instanceof RecognizerError && error.code === 'timed_out';
  return (
    [AudioUnreadable, ClaimLost, NotCovered, TimeIsUp, LanguageNotKnown].some((kind) => error instanceof kind) ||
    hasTimedOut
  );
}
