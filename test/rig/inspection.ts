/** Compares what clients were told with what the database holds, when everything runs and every client knows how its uploads ended. */
import type { UploadRow } from './rows.ts';
import type { Outcome } from './uploads.ts';

/** What became of uploads: failed is audio that can't be decoded, refused what is no audio. */
export const endsCounted = ['uploads', 'accepted', 'completed', 'failed', 'refused'] as const;
/** Lost is what did not end as it has to, truncated what was completed with less than the whole audio. */
export const harmsCounted = ['lost', 'truncated', 'chargedTwice', 'existingTwice'] as const;

type Counts = Record<(typeof endsCounted)[number] | (typeof harmsCounted)[number], number>;

export interface Findings extends Counts {
  /** Each in words. */
  breaches: string[];
}

export function sumOf<Name extends string>(all: readonly Record<Name, number>[], names: readonly Name[]) {
  const sums = names.map((name) => [name, all.reduce((sum, one) => sum + one[name], 0)]);
  return Object.fromEntries(sums) as Record<Name, number>;
}

export function together(all: readonly Findings[]): Findings {
  return { ...sumOf(all, [...endsCounted, ...harmsCounted]), breaches: all.flatMap(({ breaches }) => breaches) };
}

/** @param rows all that the database holds of these uploads */
export function compare(rows: readonly UploadRow[], outcomes: readonly Outcome[]): Findings {
  return together(outcomes.map((outcome) => compareOne(outcome, rows)));
}

function compareOne(outcome: Outcome, rows: readonly UploadRow[]): Findings {
  const { upload, answers, final, faults } = outcome;
  const own = rows.filter(({ title }) => title === upload.name);
  const row = own.find(({ id }) => id === answers[0]?.sessionId);
  const losses = lossesOf(outcome, row);
  const breaches = [...faults, ...losses, ...(row === undefined ? [] : wrongIn(outcome, row))];
  if (answers.length === 0 && own.length > 0) breaches.push(`${upload.name} is there, unanswered`);
  if (own.length > 1) breaches.push(`${upload.name} exists ${own.length} times`);
  const isCompleted = row?.status === 'completed';
  return {
    uploads: 1,
    accepted: Number(answers.length > 0),
    completed: Number(final?.status === 'completed'),
    failed: Number(final?.status === 'failed'),
    refused: Number(final?.status === 'refused'),
    lost: Number(losses.length > 0),
    truncated: Number(isCompleted && row.duration_ms! < upload.clip.durationMs),
    chargedTwice: Number(own.some(({ charges }) => charges.length > 1)),
    existingTwice: Number(own.length > 1),
    breaches,
  };
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
