/** The rows that search looks through. */
import { sql } from 'kysely';
import type { Trx } from '../connection/database.ts';

/**
 * Of how transcripts are cut into passages and words (src/search). What was indexed by another version is indexed anew by
 * the worker. Raise it whenever the same text gives other passages.
 */
export const indexVersion = 2;

export interface NewPassage {
  firstSegment: number;
  starts: number[];
  /** The text of a `tsvector`. */
  words: string;
}

/**
 * Puts a session into the index, in place of what is there of it. The caller's transaction holds the account's lock, or
 * makes the session.
 *
 * @param ofTranscript false while there is only a title
 */
export async function indexSession(
  trx: Trx,
  { accountId, sessionId }: { accountId: string; sessionId: string },
  passages: readonly NewPassage[],
  ofTranscript: boolean,
): Promise<void> {
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
