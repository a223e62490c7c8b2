/** Judges the transcripts of a part by all rules at once. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { isJudged } from './judged.ts';
import { bySession, partsOf } from './parts.ts';
import { maxExamples } from './rule.ts';
import { misshapen, readTranscripts, transcriptRules } from './transcript-rules.ts';
import type { Db, Trx } from '../connection/database.ts';
import type { Mark } from './judged.ts';
import type { Part } from './parts.ts';
import type { Found } from './rule.ts';

interface Judged {
  /** How many there are, judged before or now. */
  transcripts: number;
  checked: number;
  breaches: number[];
  examples: (string[] | null)[];
}

/**
 * @param before what was judged before this and has not changed since is not judged again
 * @returns what each rule found, in their order
 */
export async function judgeTranscripts(snapshot: Trx, part: Part, before?: Mark): Promise<Found[]> {
  const { rows } = await judgement(part, before).execute(snapshot);
  const { transcripts, checked, breaches, examples } = rows[0]!;
  const unchanged = transcripts - checked;
  return transcriptRules.map((_, i) => ({ checked, unchanged, breaches: breaches[i]!, examples: examples[i]! }));
}

/** Other rules have another name. */
export function nameOfRules(db: Db): string {
  const { sql: text, parameters } = judgement({ after: undefined, upTo: undefined }, undefined).compile(db);
  return createHash('sha256')
    .update(JSON.stringify([text, parameters]))
    .digest('hex');
}

function judgement(part: Part, before: Mark | undefined) {
  const verdicts = transcriptRules.map(({ isBroken }, i) => sql`(${isBroken}) as ${sql.ref(`breaks_${i}`)}`);
  const breaks = transcriptRules.map((_, i) => sql.ref(`breaks_${i}`));
  // `offset 0` keeps PostgreSQL from merging the steps: many rules use a transcript, and it is read only once.
  return sql<Judged>`
    with ${partsOf(bySession, part)}
    select (select count(*) from transcripts) as transcripts, count(*) as checked,
      json_build_array(${sql.join(breaks.map((broken) => sql`count(*) filter (where ${broken})`))})::jsonb as breaches,
      json_build_array(${sql.join(
        breaks.map((broken) => sql`(array_agg(session_id) filter (where ${broken}))[1:${sql.lit(maxExamples)}]`),
      )})::jsonb as examples
    from (select session_id, ${sql.join(verdicts)} from (
      select *, ${misshapen} as misshapen from (
        ${readTranscripts} where ${before ? sql`not ${isJudged(before, 't.xmin', 's.xmin')}` : sql`true`}
        offset 0) as read
      offset 0) as looked offset 0) as judged`;
}
