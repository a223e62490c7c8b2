import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What was found by whoever had the turn last, and when: the others need not look. */
export const foundInTurn: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table turns add column found json, add column found_at timestamptz`.execute(db);
  },
};
