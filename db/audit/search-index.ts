/** What the index holds of sessions, next to what it should hold. */
import { sql } from 'kysely';
import type { Trx } from '../database.ts';
import type { NewPassage } from '../search/passages.ts';
import type { SessionPlace } from '../search/unindexed.ts';

export interface AuditedSession {
  account_id: string;
  id: string;
  title: string;
  language: string | null;
  /** As JSON text; null where there is no transcript. */
  segments: string | null;
  /** Whether a transcript is there if, and only if, the session is completed: other rules judge that. */
  isWhole: boolean;
}

/** Of the compressed texts of a page. */
const pageBytes = 1024 * 1024;

/** The next sessions of all, in the order of their accounts and ids: fewer than `limit` where they are long. */
export async function listSearchable(snapshot: Trx, after: SessionPlace, limit: number): Promise<AuditedSession[]> {
  const { rows } = await sql<AuditedSession>`
    select account_id, id, title, language, segments::text as segments, "isWhole"
    from (
      select s.account_id, s.id, s.title, s.language, t.segments,
        (s.status = 'completed') = (t.session_id is not null) as "isWhole",
        sum(pg_column_size(t.segments)) over (
          order by s.account_id, s.id rows between unbounded preceding and 1 preceding) as bytes_before
      from (select * from sessions where (account_id, id) > (${after.accountId}::uuid, ${after.id}::uuid)
        order by account_id, id limit ${limit}) as s
      left join transcripts t on t.account_id = s.account_id and t.session_id = s.id
    ) as page
    where bytes_before is null or bytes_before < ${pageBytes}
    order by account_id, id`.execute(snapshot);
  return rows;
}

export interface ExpectedPassage extends NewPassage {
  accountId: string;
  sessionId: string;
  number: number;
  ofTranscript: boolean;
}

/** Of the sessions of these passages, those of which the index holds anything else. */
export async function findIndexedOtherwise(snapshot: Trx, expected: readonly ExpectedPassage[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with expected as materialized (
      select account_id, session_id, number, of_transcript, first_segment, starts::smallint[] as starts,
        words::tsvector as words
      from unnest(
        ${expected.map(({ accountId }) => accountId)}::uuid[], ${expected.map(({ sessionId }) => sessionId)}::uuid[],
        ${expected.map(({ number }) => number)}::int[], ${expected.map(({ ofTranscript }) => ofTranscript)}::boolean[],
        ${expected.map(({ firstSegment }) => firstSegment)}::int[],
        ${expected.map(({ starts }) => `{${starts.join(',')}}`)}::text[], ${expected.map(({ words }) => words)}::text[]
      ) as e (account_id, session_id, number, of_transcript, first_segment, starts, words)
    ), actual as materialized (
      select p.* from (select distinct account_id, session_id from expected) as s
        join passages p on p.account_id = s.account_id and p.session_id = s.session_id
    )
    select distinct coalesce(e.session_id, a.session_id)::text as id
    from expected e full join actual a
      on a.account_id = e.account_id and a.session_id = e.session_id and a.number = e.number
    where (e.of_transcript, e.first_segment, e.starts, e.words)
      is distinct from (a.of_transcript, a.first_segment, a.starts, a.words)`.execute(snapshot);
  return rows.map(({ id }) => id);
}
