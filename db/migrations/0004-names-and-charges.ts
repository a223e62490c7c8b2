import { sql } from 'kysely';
import { addCheck, makeIndex } from './online.ts';
import type { Kysely } from 'kysely';
import type { OnlineMigration } from './online.ts';

const atATime = 5_000;

/** The client's own name for a session, and what was charged for it. The ledger stays the authority; `verify` compares. */
export const namesAndCharges: OnlineMigration = {
  inSteps: true,
  async up(db: Kysely<unknown>) {
    await sql`alter table sessions add column if not exists reference text,
      add column if not exists charged_ms int`.execute(db);
    await addCheck(db, 'sessions', 'sessions_charged_ms_check', 'charged_ms >= 0');
    await rememberCharges(db);
    await makeIndex(
      db,
      'sessions_by_reference',
      'on sessions (account_id, reference, created_at desc, id desc) where reference is not null',
    );
  },
};

interface Place {
  account_id: string;
  id: string;
}

/** Some sessions at a time, so that no row is locked for long. */
async function rememberCharges(db: Kysely<unknown>): Promise<void> {
  const none = '00000000-0000-0000-0000-000000000000';
  let last: Place | undefined = { account_id: none, id: none };
  while (last !== undefined) {
    const after: Place = last;
    const { rows } = await sql<Place>`with part as (
      select account_id, id from sessions where (account_id, id) > (${after.account_id}::uuid, ${after.id}::uuid)
      order by account_id, id limit ${sql.lit(atATime)}
    ), changed as (
      update sessions s set charged_ms = coalesce((select -amount_ms from ledger l
        where l.account_id = s.account_id and l.session_id = s.id and l.kind = 'charge'), 0)
      from part where (s.account_id, s.id) = (part.account_id, part.id) and s.status = 'completed'
    )
    select account_id, id from part order by account_id desc, id desc limit 1`.execute(db);
    last = rows[0];
  }
}
