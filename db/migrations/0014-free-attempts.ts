import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = [sql`alter table sessions add column free_attempts int not null default 0`];

/** How many attempts at a session were given back although the recording itself may be why they ended. */
export const freeAttempts: Migration = {
  async up(db: Kysely<unknown>) {
    for (const statement of statements) await statement.execute(db);
  },
};
