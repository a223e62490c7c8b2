import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { findSessionsWithoutLiveJob } from '../../db/queue-tables.ts';
import { replaceJobIfNotFinal } from '../../db/sessions/attempts.ts';
import { newJobId, transcriptionQueue } from '../queue/queue.ts';
import { failSession } from '../sessions/endings.ts';
import { giveJob } from '../sessions/job.ts';
import type { WorkerContext } from './worker-context.ts';

type Rescuer = Pick<WorkerContext, 'db' | 'queue' | 'log'>;

const atATime = 500;

/** Rescues the unfinished sessions whose job is dead or lost. */
export async function rescueSessions(worker: Rescuer): Promise<void> {
  const lost = await findSessionsWithoutLiveJob(worker.db, transcriptionQueue, atATime);
  for (const { account_id, id, queue_job_id } of lost) {
    await rescue(account_id, id, queue_job_id, worker).catch((error: unknown) =>
      worker.log.warn({ err: error, sessionId: id }, 'a session without a job could not be rescued yet'),
    );
  }
}

/**
 * Gives an unfinished session whose job is lost or dead another job with the attempts that are left. When none is left,
 * the session fails. Nothing happens when the session has another job by now.
 */
export async function rescue(
  accountId: string,
  sessionId: string,
  lostJobId: string,
  { db, queue, log }: Rescuer,
): Promise<void> {
  await inAccountTransaction(db, accountId, async (trx, account) => {
    const session = await replaceJobIfNotFinal(trx, accountId, sessionId, lostJobId, newJobId());
    if (account === undefined || session === undefined) return;
    log.info({ sessionId, attemptsLeft: session.attempts_left }, 'the job of a session is dead or lost');
    if (session.attempts_left === 0) {
      await failSession(trx, accountId, sessionId, session.last_error_code ?? 'recognizer_error');
      return;
    }
    await giveJob(trx, queue, account, session);
  });
}
