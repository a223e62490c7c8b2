/** What stores a transcript, makes it findable, charges it and completes its session, as the worker does it. */
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { completeSession } from '../../src/sessions/endings.ts';
import { findableOf, makeFindable } from '../../src/sessions/indexing.ts';
import { claimedSession, title } from './claimed-session.ts';
import { quantile } from './statistics.ts';
import type { Db } from '../../db/connection/database.ts';

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
    const attempt = await claimedSession(db, accountId, durationMs);
    const began = performance.now();
    const findable = await findableOf(db, accountId, { title, language: stored.language, segments });
    await inAccountTransaction(db, accountId, async (trx) => {
      await completeSession(trx, attempt, durationMs, stored);
      await makeFindable(trx, attempt, findable);
    });
    took.push(performance.now() - began);
  }
  return quantile(took, 0.5);
}
