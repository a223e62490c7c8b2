/**
 * Which transcripts `verify` has judged before. PostgreSQL notes in every version of a row which transaction wrote it (`xmin`), so
 * whatever was changed since looks newer than the mark, by whom or what it was changed.
 *
 * The mark is the oldest transaction that ran when a look began that found nothing. It counts as long as that server runs:
 * after a restore, a failover or an upgrade everything is judged anew.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Db, Queryable } from '../connection/database.ts';

const name = 'transcripts judged';
const server = sql`extract(epoch from pg_postmaster_start_time())::text`;

/** A place among all transactions of a server. */
export interface Mark {
  server: string;
  /** As a number that never comes again. */
  transaction: string;
  /** By which rules it was judged. */
  rules: string;
}

/** What no transaction of later has written is seen by every snapshot from now on. */
export async function markNow(db: Queryable, rules: string): Promise<Mark> {
  const { rows } = await sql<Omit<Mark, 'rules'>>`
    select ${server} as server, pg_snapshot_xmin(pg_current_snapshot())::text as transaction`.execute(db);
  return { ...rows[0]!, rules };
}

/** @param now by which rules, and at which server, is judged now */
export async function findMark(db: Queryable, now: Mark): Promise<Mark | undefined> {
  const kept = await db.selectFrom('turns').select('found').where('name', '=', name).executeTakeFirst();
  if (!kept?.found) return undefined;
  const mark = JSON.parse(kept.found) as Mark;
  return mark.server === now.server && mark.rules === now.rules ? mark : undefined;
}

/** Keeps it, unless another server has taken over meanwhile. */
export async function keepMark(db: Db, mark: Mark): Promise<void> {
  const found = JSON.stringify(mark);
  await sql`insert into turns (name, taken_at, found, found_at)
    select ${name}, now(), ${found}, now() where ${server} = ${mark.server}
    on conflict (name) do update set taken_at = now(), found = ${found}, found_at = now()`.execute(db);
}

/**
 * Whether the row versions of these transactions were there when the mark was made. A row has the last 32 bits of a
 * transaction's number; with the highest number that it can be, what is very old is judged once more.
 */
export function isJudged(mark: Mark, ...writers: string[]): RawBuilder<unknown> {
  const next = sql`pg_snapshot_xmax(pg_current_snapshot())::text::bigint`;
  const number = (xmin: string) => sql`${next} - mod(${next} - ${sql.ref(xmin)}::text::bigint, 4294967296)`;
  const isBefore = writers.map((xmin) => sql`${number(xmin)} < ${mark.transaction}::bigint`);
  return sql`(${sql.join(isBefore, sql` and `)}) is true`;
}
