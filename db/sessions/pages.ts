import { sql } from 'kysely';
import { NamedQuery } from '../connection/named-query.ts';
import { filterValues, fitsFilter, primaryOf } from './filter.ts';
import { publicColumns } from './sessions.ts';
import type { Queryable } from '../connection/database.ts';
import type { ParameterOf } from '../connection/named-query.ts';
import type { SessionStatus } from '../schema.ts';
import type { FilterValues, SessionFilter } from './filter.ts';
import type { PublicSession } from './sessions.ts';

/** The last session of the page before. Its time has the form of the filter's times. */
export interface SessionPosition {
  createdAt: string;
  id: string;
}

export interface ListSessionsQuery extends SessionFilter {
  accountId: string;
  limit: number;
  after?: SessionPosition | undefined;
}

/**
 * Sessions of an account after a position, newest first by (created_at, id), at most `limit`. Every page costs as much
 * as the first, because it is found by keyset.
 */
export function listSessions(db: Queryable, question: ListSessionsQuery): Promise<PublicSession[]> {
  const filter = filterValues(question);
  const { statuses, reference, language } = filter;
  const values = { ...boundsOf(question), ...filter, limit: question.limit };
  if (reference !== null) return pageOfReference.run(db, { ...values, reference });
  if (statuses === null && language === null) return pageOfAll.run(db, values);
  const asked = statuses ?? everyStatus;
  const [status0, status1, status2, status3] = asked;
  const byStatus = { ...values, status0, status1, status2, status3 };
  if (language === null) return pagesByStatus[asked.length - 1]!.run(db, byStatus);
  return pagesByLanguage[asked.length - 1]!.run(db, { ...byStatus, language });
}

/**
 * A bound that was not asked for lies beyond every session. There is only one upper bound: of two, PostgreSQL begins at
 * the one that it meets first in the index, and reads all sessions in between.
 */
export function boundsOf({ accountId, createdAfter, createdBefore, after }: ListSessionsQuery) {
  const isEarlier = createdBefore !== undefined && (after === undefined || createdBefore <= after.createdAt);
  // No id is lower than this one, so no session of that very moment is meant.
  const { createdAt: time, id } = isEarlier ? { createdAt: createdBefore, id: lowestId } : (after ?? beyondAll);
  return { accountId, from: createdAfter ?? '-infinity', time, id };
}

const lowestId = '00000000-0000-0000-0000-000000000000';
const beyondAll: SessionPosition = { createdAt: 'infinity', id: lowestId };

type Bounds = Record<keyof ReturnType<typeof boundsOf>, string>;

/** The values that every statement takes. */
type PageValues = Bounds & FilterValues & { limit: number };

/** Each status has a parameter of its own. */
type ByStatus = PageValues & Record<(typeof statusNames)[number], SessionStatus | undefined>;

const everyStatus: readonly SessionStatus[] = ['queued', 'processing', 'completed', 'failed'];
const statusNames = ['status0', 'status1', 'status2', 'status3'] as const;

/**
 * The planner sees neither bounds nor limit, and keeps its plan: else one that is made for 20 of very many sessions always looks
 * cheaper, and making it takes longer than the reading.
 */
const pageWithin = (db: Queryable, parameter: ParameterOf<PageValues>) => {
  const hidden = <Value>(name: 'from' | 'time' | 'id' | 'limit', type: string) =>
    sql<Value>`(select ${parameter(name)}::${sql.raw(type)})`;
  return db
    .selectFrom('sessions')
    .select(publicColumns)
    .where('account_id', '=', parameter('accountId'))
    .where('created_at', '>=', hidden<string>('from', 'timestamptz'))
    .where(fitsFilter(parameter))
    .where(sql<boolean>`(created_at, id) < (${hidden('time', 'timestamptz')}, ${hidden('id', 'uuid')})`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(hidden<number>('limit', 'int'));
};

const pageOfAll = new NamedQuery<PageValues, PublicSession>('page', pageWithin);

type Page = ReturnType<typeof pageWithin>;

/**
 * One statement for each number of statuses. Each status is read from its own place in the index, and the results are
 * merged. One range over all statuses would read every session in between.
 */
const pagesOf = <Values extends ByStatus>(name: string, only: (page: Page, parameter: ParameterOf<Values>) => Page) =>
  statusNames.map(
    (_, index) =>
      new NamedQuery<Values, PublicSession>(`${name}-${index + 1}`, (db, parameter) => {
        const given: ParameterOf<ByStatus> = parameter;
        const [first, ...others] = statusNames
          .slice(0, index + 1)
          .map((status) => only(pageWithin(db, given).where('status', '=', given(status) as SessionStatus), parameter));
        return others
          .reduce(
            (union, page) => union.unionAll(db.selectFrom(page.as('page')).selectAll()),
            db.selectFrom(first!.as('page')).selectAll(),
          )
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .limit(given('limit'));
      }),
  );

const pagesByStatus = pagesOf<ByStatus>('page-of', (page) => page);

/** Of a language there may be very many sessions in one status and few in another: its index knows the status, too. */
const pagesByLanguage = pagesOf<ByStatus & { language: string }>('page-of-language', (page, parameter) =>
  page.where(primaryOf, '=', parameter('language')),
);

/** Few sessions have the same reference: those of other statuses and languages may be read and left out. */
const pageOfReference = new NamedQuery<PageValues & { reference: string }, PublicSession>(
  'page-of-reference',
  (db, parameter) => pageWithin(db, parameter).where('reference', '=', parameter('reference')),
);
