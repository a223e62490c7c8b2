/** The transaction that stores a transcript, charges it and completes its session, as the worker runs it. */
import { randomUUIDv7 } from 'node:crypto';
import { inAccountTransaction } from '../../db/account-transaction.ts';
import { changeReserved } from '../../db/accounts.ts';
import { claimIfNotFinal } from '../../db/sessions/attempts.ts';
import { insertQueuedSession } from '../../db/sessions/states.ts';
import { completeSession } from '../../src/sessions/endings.ts';
import { quantile } from './statistics.ts';
import type { Db } from '../../db/database.ts';

const durationMs = 60_000;
const segments = JSON.stringify(
  Array.from({ length: 100 }, (_, index) => ({
    ...{ index, startMs: index * 600, endMs: index * 600 + 500, text: 'a segment of what somebody said in a meeting' },
  })),
);
const stored = { durationMs, language: 'en-US', segments, words: '[]', hasSpeech: true, version: 'bench' };

/** @returns the median of the time that one takes, in ms */
export async function completionMs(db: Db, accountId: string, times: number): Promise<number> {
  const took: number[] = [];
  while (took.length < times) {
    const [sessionId, queueJobId] = [randomUUIDv7(), randomUUIDv7()];
    await inAccountTransaction(db, accountId, async (trx) => {
      const limits = { durationMs, maxAudioMs: durationMs, reservedMs: durationMs, attempts: 3 };
      const ids = { accountId, id: sessionId, jobId: randomUUIDv7(), queueJobId };
      await insertQueuedSession(trx, { ...ids, ...limits, title: 'Board meeting' });
      await changeReserved(trx, accountId, durationMs);
    });
    const { attempt } = (await claimIfNotFinal(db, accountId, sessionId, queueJobId))!;
    const began = performance.now();
    await inAccountTransaction(db, accountId, (trx) =>
      completeSession(trx, { accountId, sessionId, attempt }, durationMs, stored),
    );
    took.push(performance.now() - began);
  }
  return quantile(took, 0.5);
}
