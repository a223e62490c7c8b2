/** What the queue knows of a job. */

/** Jobs name their session and nothing else: no text, no file name. */
export interface JobData {
  accountId: string;
  sessionId: string;
  /** The job's own id, which its dead letter keeps. */
  queueJobId: string;
}

export interface QueuedJob {
  id: string;
  data: JobData;
  /** Which attempt holds the job: pg-boss settles no other. */
  retryCount: number;
  /** When the queue takes the job away; the worker stops `expiryMarginSeconds` earlier by itself. */
  expireInSeconds: number;
  /** Aborts when the claim is lost (missed heartbeats, expiry); not when the worker is asked to stop. */
  signal: AbortSignal;
}

export interface NewJob {
  id: string;
  accountId: string;
  sessionId: string;
  /** Measured duration of the audio; the account's longest when it could not be measured. */
  durationMs: number;
  attempts: number;
  /** The account's limit of jobs at once. */
  runningJobs: number;
  /** Before all that were never taken: it had its turn already. */
  isFirst?: boolean;
  /** Nobody takes it earlier. */
  afterSeconds?: number;
}

/** What an attempt fails with. It goes into the queue's own rows, so it carries a code and nothing from inside. */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed';
}
