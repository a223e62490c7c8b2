import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = [
  // Null for what was uploaded before.
  sql`alter table sessions add column audio_bytes bigint`,
  sql`create table turns (name text primary key, taken_at timestamptz not null)`,
];

/** How long the audio of a session is, and whose turn it is to list all of it. */
export const audioBytes: Migration = {
  async up(db: Kysely<unknown>) {
    for (const statement of statements) await statement.execute(db);
  },
};
