/**
 * Which sessions of an account hold what was asked for. A word that few of them hold is looked up in the index; where all
 * words are common, sessions are looked at one after the other, from the newest on. And where in their transcripts it stands.
 */
import { sql } from 'kysely';
import { NamedQuery } from '../connection/named-query.ts';
import { fitsFilter } from '../sessions/filter.ts';
import { publicColumns } from '../sessions/sessions.ts';
import type { ParameterOf } from '../connection/named-query.ts';
import type { Queryable } from '../connection/database.ts';
import type { FilterValues } from '../sessions/filter.ts';
import type { PublicSession } from '../sessions/sessions.ts';

/** A condition of a search, as the text of a `tsquery`: a passage of the session has to fulfil it, or none may. */
export interface SearchCondition {
  query: string;
  isExcluded: boolean;
}

/** Which sessions of an account are looked at, and how many of those found are wanted. */
export interface SearchRange extends FilterValues {
  accountId: string;
  /** From this time on, and before this place: RFC 3339, or `infinity`. */
  from: string;
  time: string;
  id: string;
  limit: number;
}

const counts = new NamedQuery<{ queries: string[]; most: number }, { count: number }>(
  'search-counts',
  (db, parameter) =>
    db
      .selectFrom(
        sql<{ count: number; place: number }>`(
        select q.place, (select count(*) from (
          select from passages p where p.words @@ q.query::tsquery limit ${parameter('most')}::int) as found) as count
        from unnest(${parameter('queries')}::text[]) with ordinality as q (query, place))`.as('counted'),
      )
      .select('count')
      .orderBy('place'),
);

/** How many passages fulfil each of these queries; of those that are common, `most`. A query names its account itself. */
export async function countPassages(db: Queryable, queries: string[], most: number): Promise<number[]> {
  return (await counts.run(db, { queries, most })).map(({ count }) => count);
}

interface Conditions extends SearchRange {
  /** All of these are looked up in the index. */
  rare: string[];
  /** And each of these is looked for in the sessions that were found. */
  checked: string[];
  isWanted: boolean[];
}

/** The conditions as a table, so that their texts are read once and not for every session. */
const checks = (parameter: ParameterOf<Conditions>) => sql`checks as materialized (
  select query::tsquery as query, wanted
  from unnest(${parameter('checked')}::text[], ${parameter('isWanted')}::boolean[]) as c (query, wanted))`;

/** Whether a session `s` is one of those that are asked for, and fulfils the conditions that are looked for in it. */
const holds = (parameter: ParameterOf<Conditions>) => sql<boolean>`
  ${fitsFilter(parameter)} and coalesce((select bool_and(wanted = exists (
      select from passages p where p.account_id = s.account_id and p.session_id = s.id and p.words @@ query))
    from checks), true)`;

const inRange = (parameter: ParameterOf<Conditions>, id: string) => sql<boolean>`
  account_id = ${parameter('accountId')}::uuid and created_at >= ${parameter('from')}::timestamptz
  and (created_at, ${sql.ref(id)}) < (${parameter('time')}::timestamptz, ${parameter('id')}::uuid)`;

const columns = sql.join(publicColumns.map((column) => sql.ref(`s.${column}`)));

// The offsets keep the steps in their order: what costs most comes last, for as few sessions as are wanted.
const byIndex = new NamedQuery<Conditions, PublicSession>('search-by-index', (db, parameter) =>
  db
    .selectFrom(
      sql<PublicSession>`(
        with ${checks(parameter)}
        select ${columns} from (
          select account_id, session_id, created_at from (
            select q.place, p.account_id, p.session_id, p.created_at
            from unnest(${parameter('rare')}::text[]) with ordinality as q (query, place) cross join lateral (
              select account_id, session_id, created_at from passages where words @@ q.query::tsquery offset 0) as p
          ) as found
          where ${inRange(parameter, 'session_id')}
          group by account_id, session_id, created_at
          having count(distinct place) = cardinality(${parameter('rare')}::text[])
          order by created_at desc, session_id desc offset 0
        ) as found cross join lateral (
          select * from sessions where account_id = found.account_id and id = found.session_id offset 0) as s
        where ${holds(parameter)}
        limit ${parameter('limit')}::int)`.as('page'),
    )
    .selectAll(),
);

const looksAt = 500;

const byTime = new NamedQuery<Conditions, PublicSession>('search-by-time', (db, parameter) =>
  db
    .selectFrom(
      sql<PublicSession>`(
        with ${checks(parameter)}
        select ${columns} from (
          select * from sessions where ${inRange(parameter, 'id')}
          order by created_at desc, id desc limit ${sql.lit(looksAt)}
        ) as s
        where ${holds(parameter)}
        limit ${parameter('limit')}::int)`.as('page'),
    )
    .selectAll(),
);

/** Whether a search was ended by PostgreSQL because it took too long. */
export const isTimedOut = (error: unknown): boolean =>
  Error.isError(error) && 'code' in error && error.code === '57014';

/**
 * Newest first. @param rare looked up in the index: the sessions fulfil all of these, and the other conditions. Without
 * them, only the newest 500 of the range are looked at
 */
export function findSessions(
  db: Queryable,
  range: SearchRange,
  conditions: readonly SearchCondition[],
  rare: string[] = [],
): Promise<PublicSession[]> {
  const checked = conditions.map(({ query }) => query);
  const isWanted = conditions.map(({ isExcluded }) => !isExcluded);
  return (rare.length > 0 ? byIndex : byTime).run(db, { ...range, rare, checked, isWanted });
}

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
const places = new NamedQuery<Wanted, Places>('search-places', (db, parameter) =>
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
const segmentsAt = new NamedQuery<Wished, { session_id: string; index: number; rest: string }>(
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
