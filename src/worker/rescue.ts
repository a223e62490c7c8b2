import { inAccountTransaction } from '../../db/account-transaction.ts';
import { replaceJobIfNotFinal } from '../../db/sessions/states.ts';
import { newJobId } from '../queue/queue.ts';
import { failSession } from '../sessions/endings.ts';
import { giveJob } from '../sessions/job.ts';
import type { WorkerContext } from './context.ts';

/**
 * Gives an unfinished session whose job is lost or dead another one for the attempts that are left, or fails it when
 * none is. Nothing happens when another job has the session by now.
 */
export async function rescue(
  accountId: string,
  sessionId: string,
  lostJobId: string,
  { db, queue, log }: Pick<WorkerContext, 'db' | 'queue' | 'log'>,
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
