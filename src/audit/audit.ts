/** The auditor checks everything that must always hold, whatever happened. It changes nothing. */
import { checkRows } from '../../db/audit/audit.ts';
import { inSnapshot } from '../../db/transaction.ts';
import { checkNeededAudio } from './needed-audio.ts';
import { checkSuperfluousFiles } from './superfluous-files.ts';
import { deadLetterQueue, transcriptionQueue } from '../queue/queue.ts';
import type { Check } from '../../db/audit/rule.ts';
import type { Audited } from './audited.ts';
import type { FileCheck, Grace } from './file-tally.ts';

export type { Audited } from './audited.ts';

export interface Audit {
  sound: boolean;
  checks: (Check | FileCheck)[];
}

/**
 * The worker's sweeps list the audio once an hour, and remove what is half an hour old and still superfluous ten minutes
 * later. So a file of two hours is late.
 */
export const usualGrace: Grace = { sweptWithinMs: 2 * 60 * 60 * 1000, removedWithinMs: 5_000 };

/**
 * Checks the rows in one snapshot. Files have no snapshot: a file that looks wrong is looked at once more, so that a
 * service at work breaks no rule. The queue's tables must exist.
 * @param onProgress hears what part of the work is done, 0 to 1
 */
export function audit(audited: Audited, onProgress: (done: number) => void, grace = usualGrace): Promise<Audit> {
  return inSnapshot(audited.db, async (snapshot) => {
    // Files come first: the older the snapshot is, the more files must be looked at twice.
    const needed = await checkNeededAudio(audited, snapshot);
    const superfluous = await checkSuperfluousFiles(audited, grace);
    const rows = await checkRows(snapshot, { work: transcriptionQueue, deadLetters: deadLetterQueue }, onProgress);
    const checks = [...rows, ...needed, ...superfluous];
    return { sound: checks.every(({ breaches }) => breaches === 0), checks };
  });
}
