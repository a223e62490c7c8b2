import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * What search looks through. The table begins empty, so nothing waits for this; the worker's sweep fills it with the
 * sessions that are there already.
 */
export const search: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`create table passages (
      account_id uuid not null,
      session_id uuid not null,
      number int not null,
      created_at timestamptz not null,
      of_transcript boolean not null,
      first_segment int not null,
      starts smallint[] not null,
      words tsvector not null,
      primary key (account_id, session_id, number),
      foreign key (account_id, session_id) references sessions on delete cascade
    )`.execute(db);
    await sql`create table search_languages (
      account_id uuid not null references accounts,
      mark text not null,
      primary key (account_id, mark)
    )`.execute(db);
    // What waits in a list to be sorted into the index is read by every search, so it may not become long.
    await sql`create index passages_by_word on passages using gin (words) with (gin_pending_list_limit = 256)`.execute(
      db,
    );
    // Every word carries its account: what is common to all says nothing of one. Without statistics PostgreSQL takes each
    // for a rare one and asks the index; src/api/reads/search.ts finds out which is common.
    await sql`alter table passages alter column words set statistics 0`.execute(db);
  },
};
