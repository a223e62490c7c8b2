import { sql } from 'kysely';
import { makeIndex } from './online.ts';
import type { Kysely } from 'kysely';
import type { OnlineMigration } from './online.ts';

/**
 * What an upload says of its recording: `language`, which was there for transcripts, holds the language that was asked for
 * from the beginning. The index lists an account's sessions of a language, in each status.
 */
export const languagesAndHints: OnlineMigration = {
  inSteps: true,
  async up(db: Kysely<unknown>) {
    await sql`alter table sessions add column if not exists speakers smallint,
      add column if not exists keyterms text[], add column if not exists known_languages text`.execute(db);
    await makeIndex(
      db,
      'sessions_by_language',
      `on sessions (account_id, split_part(language, '-', 1), status, created_at desc, id desc)
        where language is not null`,
    );
  },
};
