/** Storing a transcript as the worker does it, and the same without the index. */
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { changeReserved } from '../../db/accounts/accounts.ts';
import { addLedgerEntry } from '../../db/accounts/ledger.ts';
import { completeIfProcessing } from '../../db/sessions/attempts.ts';
import { insertTranscript } from '../../db/sessions/transcripts.ts';
import { toStoredTranscript } from '../../src/worker/stored-transcript.ts';
import { completeSession } from '../../src/sessions/endings.ts';
import { findableOf, makeFindable } from '../../src/sessions/indexing.ts';
import { claimedSession, title } from './claimed-session.ts';
import { quantile } from './statistics.ts';
import { textOf } from './search-texts.ts';
import type { Db } from '../../db/connection/database.ts';
import type { Attempt } from '../../db/sessions/attempts.ts';
import type { Transcript } from '../../src/recognizers/recognizer.ts';
import type { StoredTranscript } from '../../src/sessions/endings.ts';

export type Storing = 'with the index' | 'without the index';

const msOfWord = 400;
/** No two of a run are the same, and none is in the database yet. */
let number = 1_000_000;

/** @returns the median of the time that one takes, in ms */
export async function storingMs(
  db: Db,
  accountId: string,
  how: Storing,
  times: number,
  words: number,
): Promise<number> {
  const took: number[] = [];
  while (took.length < times) {
    number += 1;
    const transcript = spoken(textOf(number, words).segments);
    const attempt = await claimedSession(db, accountId, words * msOfWord);
    const began = performance.now();
    const stored = toStoredTranscript(transcript, words * msOfWord);
    await (how === 'with the index' ? completeWithIndex : completeWithoutIndex)(db, attempt, stored);
    took.push(performance.now() - began);
  }
  return quantile(took, 0.5);
}

async function completeWithIndex(db: Db, attempt: Attempt, stored: StoredTranscript): Promise<void> {
  const { language = null, segments } = stored;
  const findable = await findableOf(db, attempt.accountId, { title, language, segments });
  await inAccountTransaction(db, attempt.accountId, async (trx) => {
    await completeSession(trx, attempt, stored.durationMs, stored);
    await makeFindable(trx, attempt, findable);
  });
}

/** What `completeSession` does. */
async function completeWithoutIndex(db: Db, attempt: Attempt, stored: StoredTranscript): Promise<void> {
  const { accountId, sessionId } = attempt;
  const { durationMs, language, segments, words, version } = stored;
  const result = { durationMs, chargedMs: durationMs, language, transcriptVersion: version };
  await inAccountTransaction(db, accountId, async (trx) => {
    await completeIfProcessing(trx, attempt, result);
    await insertTranscript(trx, { account_id: accountId, session_id: sessionId, segments, words });
    await addLedgerEntry(trx, { accountId, kind: 'charge', sessionId, amountMs: -durationMs });
    await changeReserved(trx, accountId, -durationMs);
  });
}

function spoken(texts: readonly string[]): Transcript {
  let at = 0;
  const segments = texts.map((text, index) => {
    const words = text.split(' ').map((word) => {
      at += msOfWord;
      return { startMs: at - msOfWord, endMs: at - 50, text: word, confidence: 0.91 };
    });
    return { index, startMs: words[0]!.startMs, endMs: words.at(-1)!.endMs, text, confidence: 0.91, words };
  });
  return { language: 'en-US', segments };
}
