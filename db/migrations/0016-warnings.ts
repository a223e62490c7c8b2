import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What makes a transcript less than it could be. */
export const warnings: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table sessions add column warnings json`.execute(db);
  },
};
