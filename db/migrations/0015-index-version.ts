import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * By which version of the index a transcript was indexed. Those that are there get 0, so the worker indexes them anew. A
 * worker of the version before writes 0, too.
 */
export const indexVersion: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table passages add column version smallint not null default 0`.execute(db);
  },
};
