/** The transaction that stores a transcript, as the worker runs it, and the same without the index. */
import { randomUUIDv7 } from 'node:crypto';
import { inAccountTransaction } from '../../db/account-transaction.ts';
import { changeReserved } from '../../db/accounts.ts';
import { addLedgerEntry } from '../../db/ledger.ts';
import { claimIfNotFinal, completeIfProcessing } from '../../db/sessions/attempts.ts';
import { insertQueuedSession } from '../../db/sessions/states.ts';
import { insertTranscript } from '../../db/sessions/transcripts.ts';
import { toStoredTranscript } from '../../src/worker/stored-transcript.ts';
import { completeSession } from '../../src/sessions/endings.ts';
import { quantile } from './statistics.ts';
import { textOf } from './search-texts.ts';
import type { Trx, Db } from '../../db/database.ts';
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
    const attempt = await claimed(db, accountId, words * msOfWord);
    const began = performance.now();
    const stored = toStoredTranscript(transcript, words * msOfWord);
    await inAccountTransaction(db, accountId, (trx) =>
      how === 'with the index'
        ? completeSession(trx, attempt, stored.durationMs, stored)
        : completeWithoutIndex(trx, attempt, stored),
    );
    took.push(performance.now() - began);
  }
  return quantile(took, 0.5);
}

async function claimed(db: Db, accountId: string, durationMs: number): Promise<Attempt> {
  const [sessionId, queueJobId] = [randomUUIDv7(), randomUUIDv7()];
  await inAccountTransaction(db, accountId, async (trx) => {
    const limits = { durationMs, maxAudioMs: durationMs, reservedMs: durationMs, attempts: 3 };
    const ids = { accountId, id: sessionId, jobId: randomUUIDv7(), queueJobId };
    await insertQueuedSession(trx, { ...ids, ...limits, title: 'Board meeting' });
    await changeReserved(trx, accountId, durationMs);
  });
  const { attempt } = (await claimIfNotFinal(db, accountId, sessionId, queueJobId))!;
  return { accountId, sessionId, attempt };
}

/** What `completeSession` does besides. */
async function completeWithoutIndex(trx: Trx, attempt: Attempt, stored: StoredTranscript): Promise<boolean> {
  const { accountId, sessionId } = attempt;
  const { durationMs, language, segments, words, version } = stored;
  await completeIfProcessing(trx, attempt, { durationMs, chargedMs: durationMs, language, transcriptVersion: version });
  await insertTranscript(trx, { account_id: accountId, session_id: sessionId, segments, words });
  await addLedgerEntry(trx, { accountId, kind: 'charge', sessionId, amountMs: -durationMs });
  await changeReserved(trx, accountId, -durationMs);
  return true;
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
