/** The job that works on a session: each put into the queue gets one here, in the transaction that puts it there. */
import type { AccountInForce } from '../../db/accounts.ts';
import type { Trx } from '../../db/database.ts';
import type { QueuedSession } from '../../db/sessions/states.ts';
import type { Queue } from '../queue/queue.ts';

/**
 * Gives a queued session the job that its row names.
 *
 * @param account the owner, locked by the caller
 * @param isFirst whether it goes before all jobs that were never taken, since it had its turn already
 * @param afterSeconds nobody takes it earlier
 */
export async function giveJob(
  trx: Trx,
  queue: Queue,
  account: Pick<AccountInForce, 'id' | 'running_jobs'>,
  session: QueuedSession,
  { isFirst = false, afterSeconds = 0 } = {},
): Promise<void> {
  await queue.enqueue(trx, {
    id: session.queue_job_id,
    accountId: account.id,
    sessionId: session.id,
    // Where the upload could not be measured, the job gets the time that the longest audio needs.
    durationMs: session.duration_ms ?? session.max_audio_ms,
    // With no attempt left a job is still needed: whoever takes it fails the session.
    attempts: Math.max(1, session.attempts_left),
    runningJobs: account.running_jobs,
    isFirst,
    afterSeconds,
  });
}
