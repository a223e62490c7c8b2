/** The auditor checks everything that must always hold, whatever happened. It changes nothing. */
import { checkRows } from '../../db/audit/audit.ts';
import { checkNeededAudio } from './needed-audio.ts';
import { checkSuperfluousFiles } from './superfluous-files.ts';
import { transcriptionQueue } from '../queue/queue.ts';
import type { Looking } from '../../db/audit/audit.ts';
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
 * Checks files and rows. Nothing has a snapshot of all: rows are compared in parts that belong together, and a file that looks
 * wrong is looked at once more, so that a service at work breaks no rule. The queue's tables must exist.
 */
export async function audit(audited: Audited, looking: Looking = {}, grace = usualGrace): Promise<Audit> {
  const needed = await checkNeededAudio(audited);
  const superfluous = await checkSuperfluousFiles(audited, grace);
  const rows = await checkRows(audited.db, transcriptionQueue, looking);
  const checks = [...rows, ...needed, ...superfluous];
  return { sound: checks.every(({ breaches }) => breaches === 0), checks };
}
