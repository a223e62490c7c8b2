import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Where a session stands in the order in which accounts take turns. What waits already, and what a process of the version
 * before accepts meanwhile, gets 0: it goes first, in the order of its upload, as it was promised.
 */
export const startTags: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table sessions add column start_tag int not null default 0`.execute(db);
  },
};
