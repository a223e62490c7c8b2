import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Whether each channel of a recording is recognized for itself. */
export const channels: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table sessions add column separate_channels boolean not null default false`.execute(db);
  },
};
