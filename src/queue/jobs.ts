/** What the queue knows of a job. */
import { randomUUIDv7 } from 'node:crypto';

export const transcriptionQueue = 'transcription';

/** Attempts at a session before it fails. */
export const maxAttempts = 3;

/** The largest limit of jobs at once for an account. */
export const maxRunningJobs = 100;

const maxExpirySeconds = 24 * 60 * 60;
/** How much earlier than the queue the worker itself ends an attempt. */
export const expiryMarginSeconds = 30;

/**
 * How long a job may be active before the queue takes it away: 15 minutes and four times the audio, 24 hours at most.
 * @param durationMs of the audio
 */
export function expirySeconds(durationMs: number): number {
  return Math.min(maxExpirySeconds, 15 * 60 + Math.ceil((4 * durationMs) / 1000) + expiryMarginSeconds);
}

export const newJobId = (): string => randomUUIDv7();

/** A job names its session and nothing else: no text and no file name. */
export interface JobData {
  accountId: string;
  sessionId: string;
}

export interface QueuedJob {
  id: string;
  data: JobData;
  /** Which attempt holds the job. pg-boss settles the job for no other attempt. */
  retryCount: number;
  /** When the queue takes the job away. The worker ends the attempt `expiryMarginSeconds` earlier. */
  expireInSeconds: number;
  /** Aborts when the claim is lost (missed heartbeats, expiry). It does not abort when the worker is asked to stop. */
  signal: AbortSignal;
}

/**
 * The error of a failed attempt. The queue stores it in its own rows, so it has a code and says nothing from inside.
 */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed';
}
