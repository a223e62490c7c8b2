import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The mark of a second store, while audio is moved to it and after it was moved away from it. */
export const movingStore: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table audio_store add column other_mark uuid`.execute(db);
  },
};
