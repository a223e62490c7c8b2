/**
 * Sessions that the index does not hold as they are: those of an older version of the service or of the index, and those
 * that could not be indexed when they were completed.
 */
import { sql } from 'kysely';
import { Prepared } from '../connection/prepared.ts';
import { indexVersion } from './passages.ts';
import type { Queryable } from '../connection/database.ts';

/** A session, by what the table is sorted by. */
export interface SessionPlace {
  accountId: string;
  id: string;
}

export const firstPlace: SessionPlace = {
  accountId: '00000000-0000-0000-0000-000000000000',
  id: '00000000-0000-0000-0000-000000000000',
};

export interface Looked extends SessionPlace {
  isMissing: boolean;
}

const looked = new Prepared<SessionPlace & { limit: number }, Looked>('search-unindexed', (db, parameter) =>
  db
    .selectFrom(
      sql<Looked>`(
        select s.account_id as "accountId", s.id,
          p.session_id is null or (s.status = 'completed' and (not p.of_transcript or p.version <> ${sql.lit(indexVersion)})) as "isMissing"
        from (
          select account_id, id, status from sessions
          where (account_id, id) > (${parameter('accountId')}::uuid, ${parameter('id')}::uuid)
          order by account_id, id limit ${parameter('limit')}::int
        ) as s left join passages p on p.account_id = s.account_id and p.session_id = s.id and p.number = 0
        order by s.account_id, s.id)`.as('looked'),
    )
    .selectAll(),
);

/** The next sessions after a place, of all accounts, and whether the index lacks their title or transcript. */
export function lookForUnindexed(db: Queryable, after: SessionPlace, limit: number): Promise<Looked[]> {
  return looked.run(db, { ...after, limit });
}
