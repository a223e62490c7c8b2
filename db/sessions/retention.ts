import { sql } from 'kysely';
import { Prepared } from '../connection/prepared.ts';
import type { Queryable } from '../connection/database.ts';

/** A session whose time has come. */
export interface DueSession {
  id: string;
  delete_at: string;
}

export const firstDue: DueSession = { id: '00000000-0000-0000-0000-000000000000', delete_at: '-infinity' };

const due = new Prepared<DueSession & { limit: number }, DueSession>('due-sessions', (db, parameter) =>
  db
    .selectFrom('sessions')
    .select(['id', sql<string>`delete_at`.as('delete_at')])
    .where('delete_at', '<=', sql<string>`now()`)
    .where(sql<boolean>`(delete_at, id) > (${parameter('delete_at')}::timestamptz, ${parameter('id')}::uuid)`)
    .orderBy('delete_at')
    .orderBy('id')
    .limit(parameter('limit')),
);

/** Sessions of all accounts that are to be deleted now, the longest overdue first. @param after the last one before */
export function findDueSessions(db: Queryable, after: DueSession, limit: number): Promise<DueSession[]> {
  return due.run(db, { ...after, limit });
}
