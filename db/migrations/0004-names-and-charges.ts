import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The client's own name for a session, and what was charged for it. The ledger stays the authority; `verify` compares. */
export const namesAndCharges: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`alter table sessions add column reference text, add column charged_ms int check (charged_ms >= 0)`.execute(
      db,
    );
    await sql`update sessions s set charged_ms = coalesce((select -amount_ms from ledger l
      where l.account_id = s.account_id and l.session_id = s.id and l.kind = 'charge'), 0)
      where status = 'completed'`.execute(db);
    await sql`create index sessions_by_reference on sessions (account_id, reference, created_at desc, id desc)
      where reference is not null`.execute(db);
  },
};
