/** Checks all transcripts, one range after the other, so that progress can be shown. */
import { sql } from 'kysely';
import { maxExamples } from './rule.ts';
import { misshapen, readTranscripts, transcriptRules } from './transcript-rules.ts';
import type { Trx } from '../database.ts';
import type { Check } from './rule.ts';

const atATime = 1_000;

interface Place {
  account_id: string;
  session_id: string;
}

const place = sql`(t.account_id, t.session_id)`;
const valueOf = ({ account_id, session_id }: Place) => sql`(${account_id}::uuid, ${session_id}::uuid)`;

export async function countTranscripts(snapshot: Trx): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) from transcripts`.execute(snapshot);
  return rows[0]!.count;
}

/** @param onProgress hears how many transcripts were checked */
export async function checkTranscripts(snapshot: Trx, onProgress: (judged: number) => void): Promise<Check[]> {
  const checks: Check[] = transcriptRules.map(({ id, rule }) => ({ id, rule, checked: 0, breaches: 0, examples: [] }));
  let from: Place | undefined;
  for (;;) {
    const to = await endOfRange(snapshot, from);
    const judged = await judgeRange(snapshot, from, to);
    for (const [i, check] of checks.entries()) {
      check.checked += judged.checked;
      check.breaches += judged.breaches[i]!;
      check.examples = [...check.examples, ...(judged.examples[i] ?? [])].slice(0, maxExamples);
    }
    onProgress(checks[0]!.checked);
    if (to === undefined) return checks;
    from = to;
  }
}

async function endOfRange(snapshot: Trx, from: Place | undefined): Promise<Place | undefined> {
  const { rows } = await sql<Place>`
    select account_id, session_id from transcripts t
    where ${from === undefined ? sql`true` : sql`${place} > ${valueOf(from)}`}
    order by account_id, session_id offset ${sql.lit(atATime - 1)} limit 1`.execute(snapshot);
  return rows[0];
}

async function judgeRange(snapshot: Trx, from: Place | undefined, to: Place | undefined) {
  const after = from === undefined ? sql`true` : sql`${place} > ${valueOf(from)}`;
  const upTo = to === undefined ? sql`true` : sql`${place} <= ${valueOf(to)}`;
  const verdicts = transcriptRules.map(({ isBroken }, i) => sql`(${isBroken}) as ${sql.ref(`breaks_${i}`)}`);
  const breaks = transcriptRules.map((_, i) => sql.ref(`breaks_${i}`));
  // `offset 0` keeps PostgreSQL from merging the steps: many rules use a transcript, and it is read only once.
  const { rows } = await sql<{ checked: number; breaches: number[]; examples: (string[] | null)[] }>`
    select count(*) as checked,
      json_build_array(${sql.join(breaks.map((broken) => sql`count(*) filter (where ${broken})`))})::jsonb as breaches,
      json_build_array(${sql.join(
        breaks.map((broken) => sql`(array_agg(session_id) filter (where ${broken}))[1:${sql.lit(maxExamples)}]`),
      )})::jsonb as examples
    from (select session_id, ${sql.join(verdicts)} from (
      select *, ${misshapen} as misshapen from (${readTranscripts(sql`${after} and ${upTo}`)} offset 0) as read
      offset 0) as looked offset 0) as judged`.execute(snapshot);
  return rows[0]!;
}
