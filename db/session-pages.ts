/** Sessions page by page. */
import { sql } from 'kysely';
import { Prepared } from './prepared.ts';
import { readable } from './sessions.ts';
import type { Queryable } from './database.ts';
import type { ParameterOf } from './prepared.ts';
import type { SessionStatus } from './schema.ts';
import type { ReadableSession } from './sessions.ts';

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

/** What the statements leave open; each uses some of it. */
interface PageValues {
  accountId: string;
  status0: SessionStatus;
  status1: SessionStatus;
  status2: SessionStatus;
  status3: SessionStatus;
  createdAfter: string;
  createdBefore: string;
  /** The position. */
  time: string;
  id: string;
  limit: number;
}

type StatusName = 'status0' | 'status1' | 'status2' | 'status3';
const statusNames: readonly StatusName[] = ['status0', 'status1', 'status2', 'status3'];

/** By what is asked for: at most 40. */
const pages = new Map<string, Prepared<PageValues, ReadableSession>>();

/**
 * Sessions of an account, newest first by (created_at, id), at most `limit`, after a position. Keyset: any page costs what
 * the first costs. With statuses, each of them is read from its own place in the index and the results are merged, since
 * one range over all of them would read every session in between.
 */
export function listSessions(
  db: Queryable,
  accountId: string,
  { statuses, createdAfter, createdBefore }: SessionFilter,
  limit: number,
  after?: SessionPosition,
): Promise<ReadableSession[]> {
  const given = [...new Set(statuses)];
  const position = after && { time: after.createdAt, id: after.id };
  const values: Partial<PageValues> = { accountId, limit, createdAfter: createdAfter!, createdBefore: createdBefore! };
  given.forEach((status, index) => (values[statusNames[index]!] = status));
  Object.assign(values, position);

  const filters = { from: createdAfter !== undefined, until: createdBefore !== undefined, next: after !== undefined };
  const { from, until, next } = filters;
  const name = `page-${given.length}${from ? '-from' : ''}${until ? '-until' : ''}${next ? '-next' : ''}`;
  let page = pages.get(name);
  if (page === undefined) {
    const names = statusNames.slice(0, given.length);
    page = new Prepared(name, (builder, parameter) => pageOf(builder, parameter, names, filters));
    pages.set(name, page);
  }
  return page.run(db, values as PageValues);
}

/** Which values there are, besides those of every page. */
interface PageFilters {
  from: boolean;
  until: boolean;
  next: boolean;
}

function pageOf(
  db: Queryable,
  parameter: ParameterOf<PageValues>,
  statuses: readonly StatusName[],
  { from, until, next }: PageFilters,
) {
  const of = (status?: StatusName) =>
    db
      .selectFrom('sessions')
      .select(readable)
      .where('account_id', '=', parameter('accountId'))
      .$if(status !== undefined, (query) => query.where('status', '=', parameter(status!)))
      .$if(from, (query) => query.where('created_at', '>=', parameter('createdAfter')))
      .$if(until, (query) => query.where('created_at', '<', parameter('createdBefore')))
      .$if(next, (query) =>
        query.where(sql<boolean>`(created_at, id) < (${parameter('time')}::timestamptz, ${parameter('id')}::uuid)`),
      )
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(parameter('limit'));

  const [first, ...others] = statuses;
  if (others.length === 0) return of(first);
  return others
    .reduce(
      (union, status) => union.unionAll(db.selectFrom(of(status).as('page')).selectAll()),
      db.selectFrom(of(first).as('page')).selectAll(),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(parameter('limit'));
}
