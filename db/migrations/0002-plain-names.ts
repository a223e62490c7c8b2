import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The one migration that the version before does not bear: processes of 1.0.0 are stopped first. */
export const plainNames: Migration = {
  async up(db) {
    await sql`
      alter table turns rename to leases;
      alter table sessions rename free_attempts to infrastructure_retries;
      alter table audio_store rename mark to store_id;
      alter table audio_store rename is_marked to is_written`.execute(db);
  },
};
