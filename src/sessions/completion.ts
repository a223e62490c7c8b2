/** How a session ends, with all that belongs to it. The caller opens the transaction and holds the account's lock. */
import { changeReserved } from '../../db/accounts/accounts.ts';
import { addLedgerEntry } from '../../db/accounts/ledger.ts';
import { completeIfProcessing } from '../../db/sessions/attempts.ts';
import { failIfNotFinal } from '../../db/sessions/states.ts';
import { insertTranscript } from '../../db/sessions/transcripts.ts';
import type { Attempt, Completion } from '../../db/sessions/attempts.ts';
import type { Trx } from '../../db/connection/database.ts';
import type { FailureCode } from '../../db/schema.ts';
import type { Warning } from '../../db/sessions/warning.ts';

/**
 * Fails a session and ends its reservation.
 * @param knownLanguages with `language_not_supported`: those that the recognizer knows, if it says so
 * @returns false when the session was final already; then nothing was changed
 */
export async function failSession(
  trx: Trx,
  accountId: string,
  sessionId: string,
  code: FailureCode,
  knownLanguages?: readonly string[],
): Promise<boolean> {
  const failed = await failIfNotFinal(trx, accountId, sessionId, code, knownLanguages);
  if (failed === undefined) return false;
  await changeReserved(trx, accountId, -failed.reservedMs);
  return true;
}

export interface StoredTranscript {
  /** The decoded duration. */
  durationMs: number;
  /** What a recognizer refused: it is not charged. */
  unheardMs?: number;
  language: string | undefined;
  warnings?: readonly Warning[];
  /** JSON texts, see `db/sessions/transcripts.ts`. */
  segments: string;
  words: string;
  /** Whether anything was said: silence is not charged. */
  hasSpeech: boolean;
  version: string;
}

export const chargedMsOf = ({ hasSpeech, durationMs, unheardMs = 0 }: StoredTranscript): number =>
  hasSpeech ? durationMs - unheardMs : 0;

/**
 * Stores a transcript, completes its session, charges it and ends its reservation.
 * @returns false when the session belongs to another attempt; then the caller must roll back
 */
export async function completeSession(
  trx: Trx,
  attempt: Attempt,
  reservedMs: number,
  transcript: StoredTranscript,
): Promise<boolean> {
  const { accountId, sessionId } = attempt;
  const { durationMs, language, warnings = [], segments, words, version } = transcript;
  const chargedMs = chargedMsOf(transcript);
  const result: Completion = {
    duration_ms: durationMs,
    charged_ms: chargedMs,
    language: language ?? null,
    warnings: warnings.length > 0 ? JSON.stringify(warnings) : null,
    transcript_version: version,
  };
  if (!(await completeIfProcessing(trx, attempt, result))) return false;
  await insertTranscript(trx, { account_id: accountId, session_id: sessionId, segments, words });
  if (chargedMs > 0) await addLedgerEntry(trx, { accountId, kind: 'charge', sessionId, amountMs: -chargedMs });
  await changeReserved(trx, accountId, -reservedMs);
  return true;
}
