/** Pages that many requests ask for in the same moment, of any accounts, in one statement. */
import { sql } from 'kysely';
import { Prepared, unsized } from '../connection/prepared.ts';
import { boundsOf, listSessions } from './pages.ts';
import { record, recordsTogether, sessionsOf } from './records.ts';
import type { Queryable } from '../connection/database.ts';
import type { PageQuestion } from './pages.ts';
import type { ReadableSession } from './readable.ts';

/**
 * Pages of all sessions, many in one statement.
 * @param questions without `statuses`, `reference` and `language`
 * @returns a page for each question, in their order
 */
export async function findPages(db: Queryable, questions: readonly PageQuestion[]): Promise<ReadableSession[][]> {
  if (questions.length === 1) return [await listSessions(db, questions[0]!)];
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
