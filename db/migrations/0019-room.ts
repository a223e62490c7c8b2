import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** How many requests an account's window had room for when some were counted last: the statement that counts them tells it. */
export const room: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table allowance add column room int not null default 0`.execute(db);
  },
};
