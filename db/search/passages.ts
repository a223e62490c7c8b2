/** The rows that search looks through: which there are, which are missing, and in which languages. */
import { sql } from 'kysely';
import { NamedQuery } from '../connection/named-query.ts';
import type { Queryable, Trx } from '../connection/database.ts';

/**
 * Of how transcripts are cut into passages and words (src/search). What was indexed by another version is indexed anew by
 * the worker. Raise it whenever the same text gives other passages.
 */
export const indexVersion = 2;

export interface Passage {
  firstSegment: number;
  /** The positions at which that segment and those after it begin, from 1. What lies before the first is the title. */
  starts: readonly number[];
  /** The text of a `tsvector`: its lexemes with their positions. */
  words: string;
}

/** What the index holds of a session. */
export interface SearchDocument {
  passages: Passage[];
  /** The mark of its transcript's language; undefined while there is only a title. */
  language: string | undefined;
}

/**
 * Puts a session into the index, in place of what is there of it. Idempotent. The caller's transaction holds the account's
 * lock, or makes the session.
 */
export async function indexSession(
  trx: Trx,
  { accountId, sessionId }: { accountId: string; sessionId: string },
  { passages, language }: SearchDocument,
): Promise<void> {
  const ofTranscript = language !== undefined;
  if (ofTranscript)
    await sql`insert into search_languages values (${accountId}, ${language}) on conflict do nothing`.execute(trx);
  await sql`
    delete from passages where account_id = ${accountId} and session_id = ${sessionId} and number >= ${passages.length}`.execute(
    trx,
  );
  await sql`
    insert into passages (account_id, session_id, number, created_at, of_transcript, first_segment, starts, words, version)
    select s.account_id, s.id, p.place - 1, s.created_at, ${ofTranscript}, p.first_segment, p.starts::smallint[],
      p.words::tsvector, ${ofTranscript ? indexVersion : 0}
    from sessions s cross join unnest(
      ${passages.map(({ firstSegment }) => firstSegment)}::int[],
      ${passages.map(({ starts }) => `{${starts.join(',')}}`)}::text[],
      ${passages.map(({ words }) => words)}::text[]
    ) with ordinality as p (first_segment, starts, words, place)
    where s.account_id = ${accountId} and s.id = ${sessionId}
    on conflict (account_id, session_id, number) do update set of_transcript = excluded.of_transcript,
      first_segment = excluded.first_segment, starts = excluded.starts, words = excluded.words,
      version = excluded.version`.execute(trx);
}

/** A session, by what the table is sorted by. */
export interface SessionPlace {
  accountId: string;
  id: string;
}

export const firstPlace: SessionPlace = {
  accountId: '00000000-0000-0000-0000-000000000000',
  id: '00000000-0000-0000-0000-000000000000',
};

export interface UnindexedSessions extends SessionPlace {
  isMissing: boolean;
}

const looked = new NamedQuery<SessionPlace & { limit: number }, UnindexedSessions>(
  'search-unindexed',
  (db, parameter) =>
    db
      .selectFrom(
        sql<UnindexedSessions>`(
        select s.account_id as "accountId", s.id,
          p.session_id is null or (s.status = 'completed' and (not p.of_transcript or p.version <> ${sql.lit(indexVersion)})) as "isMissing"
        from (
          select account_id, id, status from sessions
          where (account_id, id) > (${parameter('accountId')}::uuid, ${parameter('id')}::uuid)
          order by account_id, id limit ${parameter('limit')}::int
        ) as s left join passages p on p.account_id = s.account_id and p.session_id = s.id and p.number = 0
        order by s.account_id, s.id)`.as('looked'),
      )
      .selectAll(),
);

/**
 * The next sessions after a place, of all accounts, and whether the index does not hold them as they are: those of an older
 * version of the service or of the index, and those that could not be indexed when they were completed.
 */
export function findUnindexed(db: Queryable, after: SessionPlace, limit: number): Promise<UnindexedSessions[]> {
  return looked.run(db, { ...after, limit });
}

const spoken = new NamedQuery<{ accountId: string }, { mark: string }>('search-languages', (db, parameter) =>
  db.selectFrom('search_languages').select('mark').where('account_id', '=', parameter('accountId')),
);

/** The marks of the languages that the transcripts of an account are in, or were. */
export async function findLanguages(db: Queryable, accountId: string): Promise<string[]> {
  return (await spoken.run(db, { accountId })).map(({ mark }) => mark);
}

export async function deleteLanguages(trx: Trx, accountId: string): Promise<void> {
  await trx.deleteFrom('search_languages').where('account_id', '=', accountId).execute();
}
