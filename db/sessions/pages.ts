/** Sessions page by page. */
import { sql } from 'kysely';
import { Prepared, unsized } from '../prepared.ts';
import { record, recordsTogether, sessionsOf } from './records.ts';
import { readable } from './readable.ts';
import type { Queryable } from '../database.ts';
import type { ParameterOf } from '../prepared.ts';
import type { SessionStatus } from '../schema.ts';
import type { ReadableSession } from './readable.ts';

export interface SessionFilter {
  statuses?: readonly SessionStatus[] | undefined;
  reference?: string | undefined;
  /** RFC 3339, UTC, with microseconds. */
  createdAfter?: string | undefined;
  createdBefore?: string | undefined;
}

/** The last session of the page before. Its time has the form of the filter's times. */
export interface SessionPosition {
  createdAt: string;
  id: string;
}

/** A page of sessions of one account. */
export interface PageQuestion extends SessionFilter {
  accountId: string;
  limit: number;
  after?: SessionPosition | undefined;
}

/**
 * Sessions of an account after a position, newest first by (created_at, id), at most `limit`. Every page costs as much
 * as the first, because it is found by keyset.
 */
export async function listSessions(db: Queryable, question: PageQuestion): Promise<ReadableSession[]> {
  const statuses = [...new Set(question.statuses)];
  if (question.reference !== undefined) {
    const { reference, limit } = question;
    return pageOfReference.run(db, { ...boundsOf(question), reference, statuses, limit });
  }
  if (statuses.length === 0) return (await findPages(db, [question]))[0]!;
  const values: Partial<PageValues> = { ...boundsOf(question), limit: question.limit };
  statuses.forEach((status, index) => (values[statusNames[index]!] = status));
  return pagesByStatus[statuses.length - 1]!.run(db, values as PageValues);
}

/**
 * A bound that was not asked for lies beyond every session. There is only one upper bound: of two, PostgreSQL begins at
 * the one that it meets first in the index, and reads all sessions in between.
 */
export function boundsOf({ accountId, createdAfter, createdBefore, after }: PageQuestion) {
  const isEarlier = createdBefore !== undefined && (after === undefined || createdBefore <= after.createdAt);
  // No id is lower than this one, so no session of that very moment is meant.
  const { createdAt: time, id } = isEarlier ? { createdAt: createdBefore, id: lowestId } : (after ?? beyondAll);
  return { accountId, from: createdAfter ?? '-infinity', time, id };
}

const lowestId = '00000000-0000-0000-0000-000000000000';
const beyondAll: SessionPosition = { createdAt: 'infinity', id: lowestId };

type Bounds = Record<keyof ReturnType<typeof boundsOf>, string>;

/** The values that the statements need. Each statement uses some of them. */
interface PageValues extends Bounds {
  status0: SessionStatus;
  status1: SessionStatus;
  status2: SessionStatus;
  status3: SessionStatus;
  limit: number;
}

const statusNames = ['status0', 'status1', 'status2', 'status3'] as const;

/**
 * One statement for each number of statuses. Each status is read from its own place in the index, and the results are
 * merged. One range over all statuses would read every session in between.
 */
const pagesByStatus = statusNames.map(
  (_, index) =>
    new Prepared<PageValues, ReadableSession>(`page-of-${index + 1}`, (db, parameter) =>
      pageOf(db, parameter, statusNames.slice(0, index + 1)),
    ),
);

const pageWithin = (db: Queryable, parameter: ParameterOf<Bounds & { limit: number }>) =>
  db
    .selectFrom('sessions')
    .select(readable)
    .where('account_id', '=', parameter('accountId'))
    .where('created_at', '>=', parameter('from'))
    .where(sql<boolean>`(created_at, id) < (${parameter('time')}::timestamptz, ${parameter('id')}::uuid)`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(parameter('limit'));

function pageOf(db: Queryable, parameter: ParameterOf<PageValues>, statuses: readonly (typeof statusNames)[number][]) {
  const of = (status: (typeof statusNames)[number]) =>
    pageWithin(db, parameter).where('status', '=', parameter(status));

  const [first, ...others] = statuses;
  return others
    .reduce(
      (union, status) => union.unionAll(db.selectFrom(of(status).as('page')).selectAll()),
      db.selectFrom(of(first!).as('page')).selectAll(),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(parameter('limit'));
}

/** Few sessions have the same reference: those of other statuses may be read and left out. */
const pageOfReference = new Prepared<
  Bounds & { reference: string; statuses: SessionStatus[]; limit: number },
  ReadableSession
>('page-of-reference', (db, parameter) =>
  pageWithin(db, parameter)
    .where('reference', '=', parameter('reference'))
    .where(sql<boolean>`(${parameter('statuses')}::text[] = '{}' or status = any(${parameter('statuses')}::text[]))`),
);

/**
 * Pages of all statuses, for many accounts in one statement.
 * @param questions without `statuses`
 * @returns a page for each question, in their order
 */
export async function findPages(db: Queryable, questions: readonly PageQuestion[]): Promise<ReadableSession[][]> {
  const bounds = questions.map(boundsOf);
  const rows = await pagesTogether.run(db, {
    accountIds: bounds.map(({ accountId }) => accountId),
    froms: bounds.map(({ from }) => from),
    times: bounds.map(({ time }) => time),
    ids: bounds.map(({ id }) => id),
    limits: questions.map(({ limit }) => limit),
  });
  return rows.map(({ page }) => sessionsOf(page));
}

interface Together {
  accountIds: string[];
  froms: string[];
  times: string[];
  ids: string[];
  limits: number[];
}

const pagesTogether = new Prepared<Together, { page: string | null }>('pages', (db, parameter) =>
  db
    .selectFrom(
      sql<{ account_id: string; place: number }>`unnest(
        ${unsized(parameter('accountIds'), 'uuid')}, ${unsized(parameter('froms'), 'timestamptz')},
        ${unsized(parameter('times'), 'timestamptz')}, ${unsized(parameter('ids'), 'uuid')},
        ${unsized(parameter('limits'), 'int')}
      ) with ordinality`.as<'asked'>(sql`asked (account_id, since, time, id, most, place)`),
    )
    .select((asked) =>
      asked
        .selectFrom((from) =>
          from
            .selectFrom('sessions')
            .select(record.as('record'))
            .whereRef('sessions.account_id', '=', 'asked.account_id')
            .where(sql<boolean>`created_at >= asked.since`)
            .where(sql<boolean>`(created_at, sessions.id) < (asked.time, asked.id)`)
            .orderBy('created_at', 'desc')
            .orderBy('sessions.id', 'desc')
            .limit(sql<number>`asked.most`)
            .as('records'),
        )
        .select(recordsTogether.as('page'))
        .as('page'),
    )
    .orderBy('asked.place'),
);
