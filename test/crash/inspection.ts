/** What must be true after a round, when everything runs again and every client knows how its uploads ended. */
import { uploadRows } from './rows.ts';
import type { Lane } from './lane.ts';
import type { UploadRow } from './rows.ts';
import type { Outcome } from './uploads.ts';

export interface Findings {
  accepted: number;
  completed: number;
  failed: number;
  refused: number;
  lost: number;
  /** Completed with less than the whole audio. */
  truncated: number;
  chargedTwice: number;
  existingTwice: number;
  /** Each in words. */
  breaches: string[];
}

/** Compares what clients were told with what the database holds. */
export async function inspectUploads(lane: Lane, round: number, outcomes: Outcome[]): Promise<Findings> {
  return compare(await uploadRows(lane.db(), lane.account.id, `round-${round}-`), outcomes);
}

/** @param rows all that the database holds of these uploads */
export function compare(rows: readonly UploadRow[], outcomes: readonly Outcome[]): Findings {
  const findings: Findings = {
    ...{ accepted: 0, completed: 0, failed: 0, refused: 0, lost: 0, truncated: 0, chargedTwice: 0, existingTwice: 0 },
    breaches: outcomes.flatMap(({ faults }) => faults),
  };
  for (const outcome of outcomes) {
    const own = rows.filter(({ title }) => title === outcome.upload.name);
    const row = own.find(({ id }) => id === outcome.answers[0]?.sessionId);
    findings.accepted += Number(outcome.answers.length > 0);
    findings.completed += Number(outcome.final?.status === 'completed');
    findings.failed += Number(outcome.final?.status === 'failed');
    findings.refused += Number(outcome.final?.status === 'refused');
    if (outcome.answers.length === 0 && own.length > 0)
      findings.breaches.push(`${outcome.upload.name} is there, unanswered`);
    if (own.length > 1) {
      findings.existingTwice += 1;
      findings.breaches.push(`${outcome.upload.name} exists ${own.length} times`);
    }
    if (row?.status === 'completed' && row.duration_ms! < outcome.upload.clip.durationMs) findings.truncated += 1;
    if (own.some(({ charges }) => charges.length > 1)) findings.chargedTwice += 1;
    const losses = lossesOf(outcome, row);
    if (losses.length > 0) findings.lost += 1;
    findings.breaches.push(...losses, ...(row === undefined ? [] : wrongIn(outcome, row)));
  }
  return findings;
}

const endings = { words: 'completed', silence: 'completed', failure: 'failed', refusal: 'refused' };

/** Why an upload counts as lost. */
function lossesOf({ upload: { name, clip }, answers, final }: Outcome, row: UploadRow | undefined): string[] {
  const expected = endings[clip.ending];
  if (final !== undefined && final.status !== expected) {
    return [`${name} is ${final.status} (${final.code}) instead of ${expected}, at attempt ${row?.attempt}`];
  }
  if (expected === 'refused') return final === undefined ? [`${name} was never answered`] : [];
  if (answers.length === 0) return [`${name} was never accepted`];
  if (row === undefined) return [`${name} was accepted and is not there`];
  return final === undefined ? [`${name} is still ${row.status} after attempt ${row.attempt}`] : [];
}

/** Of an upload that is there: its record, its charge and its words. */
function wrongIn({ upload: { name, clip }, final }: Outcome, row: UploadRow): string[] {
  const wrong: string[] = [];
  if (row.recorded_id !== row.id) wrong.push(`${name}: its Idempotency-Key belongs to ${row.recorded_id}`);
  if (row.status === 'completed' && row.duration_ms !== clip.durationMs) {
    wrong.push(`${name}: ${row.duration_ms} ms long instead of ${clip.durationMs}`);
  }
  const owed = clip.ending === 'words' && row.status === 'completed' ? [-clip.durationMs] : [];
  if (String(row.charges) !== String(owed)) wrong.push(`${name}: charged ${row.charges} instead of ${owed}`);
  if (final?.status === 'completed' && final.segments > 0 !== (clip.ending === 'words')) {
    wrong.push(`${name}: ${final.segments} segments`);
  }
  return wrong;
}
