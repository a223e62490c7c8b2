/** Reads sessions. Changes of sessions are in `states.ts`. */
import { sql } from 'kysely';
import { Prepared, unsized } from '../connection/prepared.ts';
import { readable } from './readable.ts';
import type { Selectable } from 'kysely';
import type { Queryable } from '../connection/database.ts';
import type { SessionTable } from '../schema.ts';
import type { ReadableSession } from './readable.ts';

export type Session = Selectable<SessionTable>;

const many = new Prepared<{ accountIds: string[]; ids: string[] }, ReadableSession & { place: number }>(
  'sessions',
  (db, parameter) =>
    db
      .selectFrom(wantedSessions(parameter('accountIds'), parameter('ids')))
      .innerJoin('sessions', (join) =>
        join.onRef('sessions.account_id', '=', 'wanted.account_id').onRef('sessions.id', '=', 'wanted.id'),
      )
      .select(readable.map((column) => `sessions.${column}` as const))
      .select(sql<number>`wanted.place::int`.as('place')),
);

/** Pairs of account and session, numbered from 1 in the order given. */
export const wantedSessions = (accountIds: string[], ids: string[]) =>
  sql<{ account_id: string; id: string; place: number }>`
    unnest(${unsized(accountIds, 'uuid')}, ${unsized(ids, 'uuid')}) with ordinality`.as<'wanted'>(
    sql`wanted (account_id, id, place)`,
  );

/**
 * Runs a statement about many sessions. Each is named by its account and its id in lower case.
 * @returns its rows in the order of `wanted`; undefined where there is none
 */
export async function readWanted<Row extends { place: number }>(
  db: Queryable,
  statement: Prepared<{ accountIds: string[]; ids: string[] }, Row>,
  wanted: readonly { accountId: string; id: string }[],
): Promise<(Row | undefined)[]> {
  const rows = await statement.run(db, {
    accountIds: wanted.map(({ accountId }) => accountId),
    ids: wanted.map(({ id }) => id),
  });
  const found: (Row | undefined)[] = wanted.map(() => undefined);
  for (const row of rows) found[row.place - 1] = row;
  return found;
}

/** Many sessions in one statement. @returns in the order of `wanted` */
export async function findSessions(
  db: Queryable,
  wanted: readonly { accountId: string; id: string }[],
): Promise<(ReadableSession | undefined)[]> {
  if (wanted.length > 1) return readWanted(db, many, wanted);
  const [session] = await one.run(db, wanted[0]!);
  return [session];
}

/** Takes two thirds of the time of `many`. */
const one = new Prepared<{ accountId: string; id: string }, ReadableSession>('session', (db, parameter) =>
  db
    .selectFrom('sessions')
    .select(readable)
    .where('account_id', '=', parameter('accountId'))
    .where('id', '=', parameter('id')),
);

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

export interface QueueMeasures {
  queued: number;
  processing: number;
  /** Since when the oldest one waits. */
  oldestSeconds: number;
  /** Of the stored audio of all sessions. Sessions of versions that did not keep its size count as none. */
  audioBytes: number;
}

/** For the metrics. Each part of it reads a small index, however many sessions there are. */
export async function measureQueue(db: Queryable): Promise<QueueMeasures> {
  const row = await db
    .selectFrom('sessions')
    .where('status', 'in', ['queued', 'processing'])
    .select([
      sql<number>`count(*) filter (where status = 'queued')`.as('queued'),
      sql<number>`count(*) filter (where status = 'processing')`.as('processing'),
      sql<number>`coalesce(extract(epoch from now() - min(created_at) filter (where status = 'queued')), 0)::float8`.as(
        'oldestSeconds',
      ),
      sql<number>`(coalesce(sum(audio_bytes), 0) + (
        select coalesce(sum(audio_bytes), 0) from sessions
        where audio_deleted_at is null and status in ('completed', 'failed')
      ))::int8`.as('audioBytes'),
    ])
    .executeTakeFirstOrThrow();
  return row;
}
