/** Judges the transcripts of a part by all rules at once. */
import { sql } from 'kysely';
import { bySession, partsOf } from './parts.ts';
import { maxExamples } from './rule.ts';
import { misshapen, readTranscripts, transcriptRules } from './transcript-rules.ts';
import type { Trx } from '../connection/database.ts';
import type { Part } from './parts.ts';
import type { Found } from './rule.ts';

/** @returns what each rule found, in their order */
export async function judgeTranscripts(snapshot: Trx, part: Part): Promise<Found[]> {
  const verdicts = transcriptRules.map(({ isBroken }, i) => sql`(${isBroken}) as ${sql.ref(`breaks_${i}`)}`);
  const breaks = transcriptRules.map((_, i) => sql.ref(`breaks_${i}`));
  // `offset 0` keeps PostgreSQL from merging the steps: many rules use a transcript, and it is read only once.
  const { rows } = await sql<{ checked: number; breaches: number[]; examples: (string[] | null)[] }>`
    with ${partsOf(bySession, part)}
    select count(*) as checked,
      json_build_array(${sql.join(breaks.map((broken) => sql`count(*) filter (where ${broken})`))})::jsonb as breaches,
      json_build_array(${sql.join(
        breaks.map((broken) => sql`(array_agg(session_id) filter (where ${broken}))[1:${sql.lit(maxExamples)}]`),
      )})::jsonb as examples
    from (select session_id, ${sql.join(verdicts)} from (
      select *, ${misshapen} as misshapen from (${readTranscripts} offset 0) as read
      offset 0) as looked offset 0) as judged`.execute(snapshot);
  const { checked, breaches, examples } = rows[0]!;
  return transcriptRules.map((_, i) => ({ checked, breaches: breaches[i]!, examples: examples[i]! }));
}
