import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { countOtherActiveJobs } from '../../db/queue-tables.ts';
import { claimIfNotFinal, replaceJobIfNotFinal } from '../../db/sessions/attempts.ts';
import { AttemptFailed } from '../queue/jobs.ts';
import { newJobId, transcriptionQueue } from '../queue/queue.ts';
import { giveJob } from '../sessions/job.ts';
import type { AccountInForce } from '../../db/accounts/accounts.ts';
import type { Trx } from '../../db/connection/database.ts';
import type { Claim } from '../../db/sessions/attempts.ts';
import type { QueuedJob } from '../queue/jobs.ts';
import type { WorkerContext } from './worker-context.ts';

/**
 * Claims the session of a job for one attempt, unless its account already runs as many jobs as it may. The queue checks
 * this too, but workers that fetch in the same moment don't see each other's jobs. The account's lock puts them in
 * order.
 * @returns `lost` when the queue gave the job to another attempt meanwhile; undefined when the session is final, has no
 *   attempt left or belongs to another job; `put back` when the account may not run it now: then another job waits in
 *   its place, and the attempt does not count
 */
export async function claimInTurn(
  job: QueuedJob,
  { db, queue }: Pick<WorkerContext, 'db' | 'queue'>,
): Promise<Claim | 'put back' | 'lost' | undefined> {
  const { accountId, sessionId } = job.data;
  return inAccountTransaction(db, accountId, async (trx, account) => {
    if (!(await queue.holds(trx, job))) return 'lost';
    if (account === undefined) return undefined;
    const others = await countOtherActiveJobs(trx, transcriptionQueue, accountId, job.id);
    if (others < Math.max(1, account.running_jobs)) return claimIfNotFinal(trx, accountId, sessionId, job.id);

    return (await replaceJob(trx, job, account, queue, 0)) ? 'put back' : undefined;
  });
}

/** Gives the session of a job that was taken another job in its place. The attempt does not count. */
export async function requeueFirst(
  job: QueuedJob,
  { db, queue }: Pick<WorkerContext, 'db' | 'queue'>,
  afterSeconds = 0,
): Promise<void> {
  await inAccountTransaction(db, job.data.accountId, async (trx, account) => {
    const isReplaced = account !== undefined && (await replaceJob(trx, job, account, queue, afterSeconds));
    if (!isReplaced) await queue.complete(trx, job);
  });
}

/** @returns false when the session is final or belongs to another job */
async function replaceJob(
  trx: Trx,
  job: QueuedJob,
  account: AccountInForce,
  queue: WorkerContext['queue'],
  afterSeconds: number,
): Promise<boolean> {
  const { accountId, sessionId } = job.data;
  const session = await replaceJobIfNotFinal(trx, accountId, sessionId, job.id, newJobId());
  if (session === undefined) return false;
  // The claim was lost meanwhile. Everything is rolled back, and the job stays with its new holder.
  if (!(await queue.complete(trx, job))) throw new AttemptFailed('claim_lost');
  await giveJob(trx, queue, account, session, afterSeconds);
  return true;
}
