/** Gives a session its job, in the transaction that puts the session into the queue. */
import type { AccountWithLimits } from '../../db/accounts/accounts.ts';
import type { Trx } from '../../db/connection/database.ts';
import type { QueuedSession } from '../../db/sessions/states.ts';
import type { Queue } from '../queue/queue.ts';

/** Of a recording whose channels are recognized separately. */
export const mostChannels = 8;

/**
 * Gives a queued session the job that its row names.
 * @param account the owner, locked by the caller
 * @param afterSeconds how long nobody may take the job
 */
export async function giveJob(
  trx: Trx,
  queue: Queue,
  account: Pick<AccountWithLimits, 'id' | 'running_jobs'>,
  session: QueuedSession,
  afterSeconds = 0,
): Promise<void> {
  await queue.enqueue(trx, {
    id: session.queue_job_id,
    accountId: account.id,
    sessionId: session.id,
    // When the duration is unknown, the job gets as much time as the longest allowed audio needs.
    durationMs: (session.duration_ms ?? session.max_audio_ms) * session.heard_channels,
    runningJobs: account.running_jobs,
    startTag: session.start_tag,
    afterSeconds,
  });
}
