/** Where in its transcripts a search found something. */
import { sql } from 'kysely';
import { Prepared } from '../connection/prepared.ts';
import type { Queryable } from '../connection/database.ts';

export interface Places {
  session_id: string;
  first_segment: number;
  starts: number[];
  /** The lexemes that were asked for, each with its positions: the text of a `tsvector`, its weights all `A`. */
  words: string;
}

interface Wanted {
  accountId: string;
  sessionIds: string[];
  /** The text of a `tsquery`: any of the words and phrases. */
  query: string;
  lexemes: string[];
  /** Of lexemes. */
  beginnings: string[];
  /** How many passages of each session. */
  most: number;
}

// Weights mark the lexemes: PostgreSQL looks each up, where taking all words apart takes 20 times as long.
const places = new Prepared<Wanted, Places>('search-places', (db, parameter) =>
  db
    .selectFrom(
      sql<Places>`(
        with query as materialized (select ${parameter('query')}::tsquery as query)
        select p.session_id, p.first_segment, p.starts,
          ts_filter(setweight(p.words, 'A', ${parameter('lexemes')}::text[] ||
            case when ${parameter('beginnings')}::text[] = '{}' then '{}' else array(
              select lexeme from unnest(tsvector_to_array(p.words)) as lexeme
              where lexeme ^@ any(${parameter('beginnings')}::text[])) end), '{a}')::text as words
        from query cross join unnest(${parameter('sessionIds')}::uuid[]) as s (id) cross join lateral (
          select * from passages
          where account_id = ${parameter('accountId')}::uuid and session_id = s.id and words @@ query.query
          order by number limit ${parameter('most')}::int) as p)`.as('places'),
    )
    .selectAll(),
);

/** The passages of these sessions that hold something of what was asked for, each session's in their order. */
export function findPlaces(db: Queryable, wanted: Wanted): Promise<Places[]> {
  return places.run(db, wanted);
}

interface Wished {
  accountId: string;
  sessionIds: string[];
  indexes: number[];
}

// A segment begins with its index, and within a text every quote has a backslash before it. Looking for the first
// characters of two segments takes a third of the time that reading all of them as JSON does.
const segmentsAt = new Prepared<Wished, { session_id: string; index: number; rest: string }>(
  'search-segments',
  (db, parameter) =>
    db
      .selectFrom(
        sql<{ session_id: string; index: number; rest: string; place: number }>`(
        select w.session_id, w.index, w.place, split_part(
          split_part(t.segments::text, '{"index":' || w.index || ',', 2), ',{"index":', 1) as rest
        from unnest(${parameter('sessionIds')}::uuid[], ${parameter('indexes')}::int[])
          with ordinality as w (session_id, index, place)
        cross join lateral (
          select segments from transcripts
          where account_id = ${parameter('accountId')}::uuid and session_id = w.session_id offset 0) as t
        )`.as('segments'),
      )
      .select(['session_id', 'index', 'rest'])
      .orderBy('place'),
);

/**
 * Single segments of transcripts.
 *
 * @param wanted the indexes of segments, each beside its session
 * @returns the members of each segment after its index, as the text of a JSON object
 */
export async function findSegmentsAt(
  db: Queryable,
  wanted: Wished,
): Promise<{ sessionId: string; index: number; members: string }[]> {
  const rows = await segmentsAt.run(db, wanted);
  // The last segment is followed by the end of the list.
  return rows.map(({ session_id: sessionId, index, rest }) => ({
    sessionId,
    index,
    members: `{${rest.replace(/\]$/, '')}`,
  }));
}
