/** What the auditor reads from the database: all rules in one snapshot, checked by PostgreSQL itself. */
import { accountRules } from './account-rules.ts';
import { jobRules } from './job-rules.ts';
import { moneyRules } from './money-rules.ts';
import { checkRule } from './rule.ts';
import { searchRules } from './search-rules.ts';
import { sessionRules } from './session-rules.ts';
import { supportLogRule } from './support-log-rule.ts';
import { checkTranscripts, countTranscripts } from './transcripts.ts';
import type { Trx } from '../database.ts';
import type { Check } from './rule.ts';

/** @param onProgress hears what part of the work is done, 0 to 1 */
export async function checkRows(
  snapshot: Trx,
  queues: { work: string; deadLetters: string },
  onProgress: (done: number) => void,
): Promise<Check[]> {
  const transcripts = await countTranscripts(snapshot);
  const rules = [...moneyRules, ...sessionRules, ...searchRules, ...accountRules, supportLogRule, ...jobRules(queues)];
  // A rule over all rows of a table takes about as long as reading so many transcripts.
  const all = transcripts + (rules.length * transcripts) / 50 + 1;
  const checks: Check[] = [];
  for (const rule of rules) {
    checks.push(await checkRule(snapshot, rule));
    onProgress((checks.length * transcripts) / 50 / all);
  }
  const judged = await checkTranscripts(snapshot, (count) =>
    onProgress((count + (rules.length * transcripts) / 50) / all),
  );
  return [...checks, ...judged];
}
