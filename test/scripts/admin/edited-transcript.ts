import { sql } from 'kysely';
import { findSessionRow } from '../../../db/sessions/sessions.ts';
import { versionOf } from '../../../db/sessions/transcripts.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { findableOf, makeFindable } from '../../../src/sessions/indexing.ts';
import type { Break } from './breaches.ts';

interface Segment {
  index: number;
  startMs: number | string;
  endMs: number;
  text: string;
}
type Words = { startMs: number; endMs: number; text: string }[][];

/** Rewrites the transcript of the spoken session, its version and what the search index holds of it. */
export const edit =
  (change: (segments: Segment[], words: Words) => void): Break =>
  async ({ db, account, sessions: { spoken } }) => {
    const query = sql<Record<'segments' | 'words', string>>`select * from transcripts where session_id = ${spoken}`;
    const stored = (await query.execute(db)).rows[0]!;
    const [segments, words] = [JSON.parse(stored.segments) as Segment[], JSON.parse(stored.words) as Words];
    change(segments, words);
    const json = [JSON.stringify(segments), JSON.stringify(words)] as const;
    await sql`update transcripts set segments = ${json[0]}, words = ${json[1]} where session_id = ${spoken}`.execute(
      db,
    );
    await sql`update sessions set transcript_version = ${versionOf(1_000, ...json)} where id = ${spoken}`.execute(db);
    const { title, language } = (await findSessionRow(db, account.id, spoken))!;
    const findable = await findableOf(db, account.id, { title, language, segments: json[0] });
    await inTransaction(db, (trx) => makeFindable(trx, { accountId: account.id, sessionId: spoken }, findable));
  };
