import { sql } from 'kysely';
import { makeIndex } from './online.ts';
import type { Kysely } from 'kysely';
import type { OnlineMigration } from './online.ts';

/** When a session is deleted by itself, and after how many days those of an account are that don't say it themselves. */
export const retention: OnlineMigration = {
  inSteps: true,
  async up(db: Kysely<unknown>) {
    await sql`alter table accounts add column if not exists retention_days int
      check (retention_days between 1 and 3650)`.execute(db);
    await sql`alter table sessions add column if not exists delete_at timestamptz`.execute(db);
    await makeIndex(db, 'sessions_by_delete_at', 'on sessions (delete_at, id) where delete_at is not null');
  },
};
