import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * When a session is completed, `duration_ms` becomes the decoded duration. The measured one is kept beside it for the
 * auditor.
 */
export const measuredDuration: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table sessions add column measured_ms int check (measured_ms >= 0),
      add column confirmed_short boolean not null default false`.execute(db);
  },
};
