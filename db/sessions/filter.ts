/** Which sessions a list or a search is of. A new filter does not compile until each of them knows it. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { ParameterOf } from '../connection/named-query.ts';
import type { SessionStatus } from '../schema.ts';

export interface SessionFilter {
  statuses?: readonly SessionStatus[] | undefined;
  reference?: string | undefined;
  /** The first part of a canonical BCP 47 tag. */
  language?: string | undefined;
  /** RFC 3339, UTC, with microseconds. */
  createdAfter?: string | undefined;
  createdBefore?: string | undefined;
}

/** Everything but the time, which a keyset is read by. */
type Matched = Omit<SessionFilter, 'createdAfter' | 'createdBefore'>;

/** Null: any, and none. */
export type FilterValues = { [Name in keyof Matched]-?: Exclude<Matched[Name], undefined> | null };

export function filterValues({ statuses = [], reference, language }: SessionFilter): FilterValues {
  return {
    statuses: statuses.length === 0 ? null : [...new Set(statuses)],
    reference: reference ?? null,
    language: language ?? null,
  };
}

/** What the index holds of a session's language. */
export const primaryOf = sql<string>`split_part(language, '-', 1)`;

const conditions: { [Name in keyof FilterValues]: (value: FilterValues[Name]) => RawBuilder<boolean> } = {
  statuses: (value) => sql`(${value}::text[] is null or status = any(${value}::text[]))`,
  reference: (value) => sql`(${value}::text is null or reference = ${value})`,
  language: (value) => sql`(${value}::text is null or ${primaryOf} = ${value})`,
};

/** Whether a row of `sessions` is one of those that are asked for. */
export const fitsFilter = (parameter: ParameterOf<FilterValues>): RawBuilder<boolean> =>
  sql.join(
    Object.entries(conditions).map(([name, condition]) => condition(parameter(name as keyof FilterValues) as never)),
    sql` and `,
  );
