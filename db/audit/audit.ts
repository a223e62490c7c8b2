/** What the auditor reads from the database: all rules in one snapshot, checked by PostgreSQL itself. */
import { sql } from 'kysely';
import { inSnapshot } from '../connection/transaction.ts';
import { rowRules } from './rules.ts';
import type { Db, Trx } from '../connection/database.ts';
import type { Rows } from './rules.ts';

export interface Check {
  id: string;
  rule: string;
  /** How many rows or files it looked at. */
  checked: number;
  breaches: number;
  /** The ids of the first few breaches. */
  examples: string[];
}

export const maxExamples = 5;

/** @param onProgress hears what part of the rows is looked at, 0 to 1 */
export function checkRows(db: Db, queue: string, onProgress: (done: number) => void = () => {}): Promise<Check[]> {
  const all = rowRules(queue);
  return inSnapshot(db, async (snapshot) => {
    const checks: Check[] = [];
    for (const [index, rows] of all.entries()) {
      checks.push(...(await check(snapshot, rows)));
      onProgress((index + 1) / all.length);
    }
    return checks;
  });
}

/** Only numbers and some examples come back, however many rows there are. */
async function check(snapshot: Trx, { from, id, rules }: Rows): Promise<Check[]> {
  const counts = rules.map(
    ({ of = sql`true`, breaks }) => sql`json_build_object('checked', count(*) filter (where ${of}),
      'breaches', count(*) filter (where ${of} and (${breaks})))`,
  );
  const counted = await sql<{ counts: Pick<Check, 'checked' | 'breaches'>[] }>`
    select json_build_array(${sql.join(counts)})::jsonb as counts from ${from}`.execute(snapshot);
  const checks: Check[] = [];
  for (const [index, { id: name, rule, of = sql`true`, breaks }] of rules.entries()) {
    const { checked, breaches } = counted.rows[0]!.counts[index]!;
    const broken = sql<{ id: string }>`select (${id})::text as id from ${from} where ${of} and (${breaks})
      order by 1 limit ${sql.lit(maxExamples)}`;
    const examples = breaches === 0 ? [] : (await broken.execute(snapshot)).rows.map((row) => row.id);
    checks.push({ id: name, rule, checked, breaches, examples });
  }
  return checks;
}
