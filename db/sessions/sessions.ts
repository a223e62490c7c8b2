/** Reads sessions. Changes of sessions are in `states.ts`. */
import { sql } from 'kysely';
import { NamedQuery } from '../connection/named-query.ts';
import type { Selectable } from 'kysely';
import type { Queryable } from '../connection/database.ts';
import type { SessionTable } from '../schema.ts';

export type Session = Selectable<SessionTable>;

/** What the owner of a session may see of its row. */
export const publicColumns = [
  'id',
  'status',
  'title',
  'reference',
  'created_at',
  'started_at',
  'completed_at',
  'duration_ms',
  'charged_ms',
  'language',
  'progress',
  'error_code',
  'known_languages',
  'transcript_version',
  'delete_at',
  'separate_channels',
  'warnings',
] as const satisfies (keyof SessionTable)[];

export type PublicSession = Pick<Session, (typeof publicColumns)[number]>;

/** @param id in lower case @returns undefined when the account has no such session */
export async function findSession(db: Queryable, accountId: string, id: string): Promise<PublicSession | undefined> {
  const [session] = await sessions.run(db, { accountId, id });
  return session;
}

const sessions = new NamedQuery<{ accountId: string; id: string }, PublicSession>('session', (db, parameter) =>
  db
    .selectFrom('sessions')
    .select(publicColumns)
    .where('account_id', '=', parameter('accountId'))
    .where('id', '=', parameter('id')),
);

/** Which of these sessions, of whatever account, are queued or processing. */
export async function whichAreUnfinished(db: Queryable, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from sessions where id = any(${ids}::uuid[]) and status in ('queued', 'processing')`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** The whole row, for the worker and for support. */
export function findSessionRow(db: Queryable, accountId: string, id: string): Promise<Session | undefined> {
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** For support, which names a session by its id alone. No request of a client may come here. */
export async function findAccountOfSession(db: Queryable, id: string): Promise<string | undefined> {
  const row = await db.selectFrom('sessions').select('account_id').where('id', '=', id).executeTakeFirst();
  return row?.account_id;
}

/** How many sessions of an account wait for a worker. */
export async function countQueued(db: Queryable, accountId: string): Promise<number> {
  const { queued } = await db
    .selectFrom('sessions')
    .select((eb) => eb.fn.countAll<number>().as('queued'))
    .where('account_id', '=', accountId)
    .where('status', '=', 'queued')
    .executeTakeFirstOrThrow();
  return queued;
}

/** For the metrics. Each part of it reads a small index, however many sessions there are. */
export function measureQueue(db: Queryable) {
  return db
    .selectFrom('sessions')
    .where('status', 'in', ['queued', 'processing'])
    .select([
      sql<number>`count(*) filter (where status = 'queued')`.as('queued'),
      sql<number>`count(*) filter (where status = 'processing')`.as('processing'),
      sql<number>`coalesce(extract(epoch from now() - min(created_at) filter (where status = 'queued')), 0)::float8`.as(
        'oldestSeconds',
      ),
      // Of all sessions. Those of versions that did not keep its size count as none.
      sql<number>`(coalesce(sum(audio_bytes), 0) + (
        select coalesce(sum(audio_bytes), 0) from sessions
        where audio_deleted_at is null and status in ('completed', 'failed')
      ))::int8`.as('audioBytes'),
    ])
    .executeTakeFirstOrThrow();
}
