import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Which audio store is this database's: one row, or none before a service of this version has marked its store. */
export const audioStore: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`create table audio_store (
      one boolean primary key default true check (one),
      mark uuid not null,
      is_marked boolean not null
    )`.execute(db);
  },
};
