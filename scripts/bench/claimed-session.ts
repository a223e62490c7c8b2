import { randomUUIDv7 } from 'node:crypto';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { changeReserved } from '../../db/accounts/accounts.ts';
import { claimIfNotFinal } from '../../db/sessions/attempts.ts';
import { insertQueuedSession } from '../../db/sessions/states.ts';
import type { Db } from '../../db/connection/database.ts';
import type { Attempt } from '../../db/sessions/attempts.ts';

export const title = 'Board meeting';

/** A session that a worker has just claimed, without a job and without audio. Its whole duration is reserved. */
export async function claimedSession(db: Db, accountId: string, durationMs: number): Promise<Attempt> {
  const [sessionId, queueJobId] = [randomUUIDv7(), randomUUIDv7()];
  await inAccountTransaction(db, accountId, async (trx) => {
    const limits = { durationMs, maxAudioMs: durationMs, reservedMs: durationMs, attempts: 3 };
    const ids = { accountId, id: sessionId, jobId: randomUUIDv7(), queueJobId };
    await insertQueuedSession(trx, { ...ids, ...limits, title });
    await changeReserved(trx, accountId, durationMs);
  });
  const { attempt } = (await claimIfNotFinal(db, accountId, sessionId, queueJobId))!;
  return { accountId, sessionId, attempt };
}
