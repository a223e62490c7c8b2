/** A rule of the auditor, as SQL: which rows it looks at, and which of them break it. */
import { sql } from 'kysely';
import { partsOf, whole } from './parts.ts';
import type { RawBuilder } from 'kysely';
import type { Trx } from '../connection/database.ts';
import type { Cut, Part } from './parts.ts';

export interface Rule {
  /** A name that never changes, for programs. */
  id: string;
  /** A sentence for people. */
  rule: string;
  /** How what it compares can be cut into parts. */
  cut: Cut;
  /** The part after `from` in a query of the rows that the rule looks at. */
  looksAt: RawBuilder<unknown>;
  /** A query of one column `id`: the rows that break it. */
  broken: RawBuilder<unknown>;
}

export interface Check {
  id: string;
  rule: string;
  /** How many rows or files it looked at. */
  checked: number;
  /** How many more an earlier look found right, and nobody has changed since. */
  unchanged?: number;
  breaches: number;
  /** The ids of the first few breaches. */
  examples: string[];
}

export const maxExamples = 5;

export const isUnfinished = sql.raw(`status in ('queued', 'processing')`);
export const isFinal = sql.raw(`status in ('completed', 'failed')`);

/**
 * Whether anything was said, for a row `t` of transcripts. PostgreSQL compares the lengths first and does not even read
 * a transcript.
 */
export const hasSpeech = sql.raw(`t.segments::text <> '[]'`);

export const unchecked = ({ id, rule }: { id: string; rule: string }): Check => ({
  ...{ id, rule, checked: 0, breaches: 0 },
  examples: [],
});

export interface Found {
  checked: number;
  unchanged?: number;
  breaches: number;
  examples: string[] | null;
}

/** Adds what was found in another part. */
export function add(check: Check, { checked, unchanged, breaches, examples }: Found): void {
  check.checked += checked;
  if (unchanged) check.unchanged = (check.unchanged ?? 0) + unchanged;
  check.breaches += breaches;
  check.examples = [...check.examples, ...(examples ?? [])].slice(0, maxExamples);
}

/** Checks a rule in PostgreSQL. Only the count and some examples come back, however many rows there are. */
export async function checkRule(snapshot: Trx, { cut, looksAt, broken }: Rule, part: Part): Promise<Found> {
  const parts = cut === whole ? sql`` : sql`${partsOf(cut, part)},`;
  const { rows } = await sql<Found>`
    with ${parts} broken as materialized (${broken})
    select (select count(*) from ${looksAt}) as checked, (select count(*) from broken) as breaches,
      array(select id::text from broken order by id limit ${sql.lit(maxExamples)}) as examples`.execute(snapshot);
  return rows[0]!;
}
