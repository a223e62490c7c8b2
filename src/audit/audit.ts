/** The auditor checks everything that must always hold, whatever happened. It changes nothing. */
import { checkRows } from '../../db/audit/audit.ts';
import { checkNeededAudio, checkSuperfluousFiles } from './files.ts';
import { transcriptionQueue } from '../queue/queue.ts';
import type { Check } from '../../db/audit/audit.ts';
import type { Audited, FileCheck, Grace } from './files.ts';

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
 * Checks files and rows. The rows are those of one moment. Files have no snapshot: one that looks wrong is looked at once more,
 * so that a service at work breaks no rule. The queue's tables must exist.
 *
 * @param onProgress hears what part of the rows is looked at, 0 to 1
 */
export async function audit(
  audited: Audited,
  { grace = usualGrace, onProgress }: { grace?: Grace; onProgress?: (done: number) => void } = {},
): Promise<Audit> {
  const needed = await checkNeededAudio(audited);
  const superfluous = await checkSuperfluousFiles(audited, grace);
  const rows = await checkRows(audited.db, transcriptionQueue, onProgress);
  const checks = [...rows, ...needed, ...superfluous];
  return { sound: checks.every(({ breaches }) => breaches === 0), checks };
}
