/** Reading sessions. What changes them is in `session-states.ts`. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Queryable } from './database.ts';
import type { SessionStatus, SessionTable } from './schema.ts';

export type Session = Selectable<SessionTable>;

const readable = [
  'id',
  'status',
  'title',
  'created_at',
  'started_at',
  'completed_at',
  'duration_ms',
  'language',
  'progress',
  'error_code',
  'transcript_version',
] as const;

/** A session as its owner may see it. */
export type ReadableSession = Pick<Session, (typeof readable)[number]>;

export function findSession(db: Queryable, accountId: string, id: string): Promise<ReadableSession | undefined> {
  return db
    .selectFrom('sessions')
    .select(readable)
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Those of many sessions, each named with its account, that are there: one statement for all, in no order. */
export function findSessions(
  db: Queryable,
  wanted: readonly { accountId: string; id: string }[],
): Promise<(ReadableSession & { account_id: string })[]> {
  const accountIds = wanted.map(({ accountId }) => accountId);
  const ids = wanted.map(({ id }) => id);
  return db
    .selectFrom('sessions')
    .select([...readable, 'account_id'])
    .where(
      sql<boolean>`(account_id, id) in (select * from unnest(${accountIds}::uuid[], ${ids}::uuid[]) as wanted (account_id, id))`,
    )
    .execute();
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

/** For support, which names a session by its id alone: besides the sweeps, the only query on sessions that does not name the account. */
export async function findAccountOfSession(db: Queryable, id: string): Promise<string | undefined> {
  const row = await db.selectFrom('sessions').select('account_id').where('id', '=', id).executeTakeFirst();
  return row?.account_id;
}

export interface SessionFilter {
  statuses?: readonly SessionStatus[] | undefined;
  /** RFC 3339, UTC. */
  createdAfter?: string | undefined;
  createdBefore?: string | undefined;
}

/** The last session of the page before. */
export interface SessionPosition {
  createdAt: string;
  id: string;
}

/**
 * Sessions of an account, newest first by (created_at, id), at most `limit`, after a position. Keyset: any page costs what
 * the first costs. With statuses, each of them is read from its own place in the index and the results are merged, since
 * one range over all of them would read every session in between.
 */
export function listSessions(
  db: Queryable,
  accountId: string,
  filter: SessionFilter,
  limit: number,
  after?: SessionPosition,
): Promise<ReadableSession[]> {
  const page = (status?: SessionStatus) =>
    db
      .selectFrom('sessions')
      .select(readable)
      .where('account_id', '=', accountId)
      .$if(status !== undefined, (query) => query.where('status', '=', status!))
      .$if(filter.createdAfter !== undefined, (query) => query.where('created_at', '>=', filter.createdAfter!))
      .$if(filter.createdBefore !== undefined, (query) => query.where('created_at', '<', filter.createdBefore!))
      .$if(after !== undefined, (query) =>
        query.where(sql<boolean>`(created_at, id) < (${after!.createdAt}::timestamptz, ${after!.id}::uuid)`),
      )
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit);

  const [first, ...others] = [...new Set(filter.statuses)];
  if (others.length === 0) return page(first).execute();
  return others
    .reduce(
      (union, status) => union.unionAll(db.selectFrom(page(status).as('page')).selectAll()),
      db.selectFrom(page(first).as('page')).selectAll(),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
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
