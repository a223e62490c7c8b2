import { NamedQuery } from '../connection/named-query.ts';
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { publicColumns } from './sessions.ts';
import type { Queryable, Trx } from '../connection/database.ts';
import type { PublicSession } from './sessions.ts';

/** Stores the transcript of a session. It is written once and never changed. */
export async function insertTranscript(
  trx: Trx,
  transcript: { account_id: string; session_id: string; segments: string; words: string },
): Promise<void> {
  await trx.insertInto('transcripts').values(transcript).execute();
}

/** The segments of a transcript as JSON text, ready to be sent; undefined when there is none. */
export async function findSegments(db: Queryable, accountId: string, id: string): Promise<string | undefined> {
  const transcript = await db
    .selectFrom('transcripts')
    .select('segments')
    .where('account_id', '=', accountId)
    .where('session_id', '=', id)
    .executeTakeFirst();
  return transcript?.segments;
}

/** Of the compressed text that is stored. The text itself is a few times as long. */
const shortBytes = 64 * 1024;
/** PostgreSQL knows the size without reading the text. */
const isShort = sql<boolean>`pg_column_size(transcripts.segments) < ${shortBytes}`;

export type SessionWithSegments = PublicSession & {
  /** As JSON text. Null when there are none, or when the text is so long that it is better read alone. */
  segments: string | null;
};

/** As `findSession`, with the segments of its transcript unless they are long. */
export async function findSessionWithSegments(
  db: Queryable,
  accountId: string,
  id: string,
): Promise<SessionWithSegments | undefined> {
  const [session] = await sessionWithSegments.run(db, { accountId, id });
  return session;
}

const sessionWithSegments = new NamedQuery<{ accountId: string; id: string }, SessionWithSegments>(
  'session-with-segments',
  (db, parameter) =>
    db
      .selectFrom('sessions')
      .leftJoin('transcripts', (join) =>
        join
          .onRef('transcripts.account_id', '=', 'sessions.account_id')
          .onRef('transcripts.session_id', '=', 'sessions.id')
          .on(isShort),
      )
      .select(publicColumns.map((column) => `sessions.${column}` as const))
      .select('transcripts.segments')
      .where('sessions.account_id', '=', parameter('accountId'))
      .where('sessions.id', '=', parameter('id')),
);

/**
 * The segments of a transcript as one JSON text. PostgreSQL puts it together: a day has 300,000 words.
 *
 * @param chosen.withWords whether each segment comes with its words
 * @param chosen.only the indexes of the segments that are wanted, where not all are
 */
export async function findChosenSegments(
  db: Queryable,
  accountId: string,
  sessionId: string,
  { withWords, only }: { withWords: boolean; only?: readonly number[] | undefined },
): Promise<string | undefined> {
  const ordered = (list: string) =>
    sql`json_array_elements(${sql.ref(list)}) with ordinality as ${sql.ref(`of_${list}`)} (value, place)`;
  const text = withWords
    ? sql`left(of_segments.value::text, -1) || ',"words":' || coalesce(of_words.value::text, '[]') || '}'`
    : sql`of_segments.value::text`;
  const { rows } = await sql<{ segments: string }>`
    select '[' || coalesce((
      select string_agg(${text}, ',' order by place)
      from ${ordered('segments')} ${withWords ? sql`left join ${ordered('words')} using (place)` : sql``}
      where ${only === undefined ? sql`true` : sql`place - 1 = any(${only}::bigint[])`}
    ), '') || ']' as segments
    from transcripts where account_id = ${accountId} and session_id = ${sessionId}`.execute(db);
  return rows[0]?.segments;
}

/** The part of an ETag that stands for a transcript: a hash of everything in it, 22 characters of base64url. */
export function versionOf(durationMs: number, segments: string, words: string): string {
  return createHash('sha256').update(`${durationMs}\n${segments}\n${words}`).digest('base64url').slice(0, 22);
}

/** The same hash, of a row with `duration_ms`, `segments_text` and `words_text`. */
export const storedVersion = sql<string>`left(translate(encode(sha256(convert_to(
  duration_ms || E'\\n' || segments_text || E'\\n' || words_text, 'UTF8')), 'base64'), '+/', '-_'), 22)`;
