import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** When a session is deleted by itself, and after how many days those of an account are that don't say it themselves. */
export const retention: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table accounts add column retention_days int check (retention_days between 1 and 3650)`.execute(db);
    await sql`alter table sessions add column delete_at timestamptz`.execute(db);
    await sql`create index sessions_by_delete_at on sessions (delete_at, id) where delete_at is not null`.execute(db);
  },
};
