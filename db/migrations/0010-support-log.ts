import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = [
  // Ids, numbers and words of ours only: nothing in it has to go when an account is erased.
  sql`create table support_log (
    number bigint primary key check (number > 0),
    at timestamptz not null default clock_timestamp(),
    who text not null,
    act text not null,
    account_id uuid,
    details json not null check (details::text !~ 'tsk_[0-9A-Za-z]{7}')
  )`,
  sql`create index support_log_of_account on support_log (account_id, number) where account_id is not null`,
  sql`create function refuse_support_log_change() returns trigger language plpgsql as $$
    begin
      raise exception 'the log of what support did is append-only';
    end $$`,
  sql`create trigger support_log_is_append_only before update or delete on support_log
    for each row execute function refuse_support_log_change()`,
  sql`create trigger support_log_is_never_truncated before truncate on support_log
    for each statement execute function refuse_support_log_change()`,
];

/** What support did, for good. */
export const supportLog: Migration = {
  async up(db: Kysely<unknown>) {
    for (const statement of statements) await statement.execute(db);
  },
};
