import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * What an upload says of its recording: `language`, which was there for transcripts, holds the language that was asked for
 * from the beginning. The index lists an account's sessions of a language, in each status.
 */
export const languagesAndHints: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table sessions add column speakers smallint, add column keyterms text[], add column known_languages text`.execute(
      db,
    );
    await sql`create index sessions_by_language on sessions
      (account_id, split_part(language, '-', 1), status, created_at desc, id desc) where language is not null`.execute(
      db,
    );
  },
};
