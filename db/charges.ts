/** What sessions have cost, for bills. */
import { sql } from 'kysely';
import type { Queryable } from './database.ts';

/** Times in RFC 3339: the first moment, and the first one after it. */
export interface Period {
  from: string;
  until: string;
}

export interface Charge {
  ledger_id: string;
  charged_at: string;
  session_id: string;
  /** Above 0. */
  charged_ms: number;
  /** Null when the session was deleted. */
  title: string | null;
  reference: string | null;
}

/** How many sessions of an account were charged in a period, and how much in all. */
export function sumCharges(
  db: Queryable,
  accountId: string,
  period: Period,
): Promise<{ sessions: number; charged_ms: number }> {
  return chargesIn(db, accountId, period)
    .select([sql<number>`count(*)`.as('sessions'), sql<number>`coalesce(-sum(amount_ms), 0)::bigint`.as('charged_ms')])
    .executeTakeFirstOrThrow();
}

/** The charges of a period, oldest first, at most `limit` of them. @param after the last one of the page before */
export function listCharges(
  db: Queryable,
  accountId: string,
  period: Period,
  { after, limit }: { after: Charge | undefined; limit: number },
): Promise<Charge[]> {
  return chargesIn(db, accountId, period)
    .leftJoin('sessions', (join) =>
      join.onRef('sessions.account_id', '=', 'ledger.account_id').onRef('sessions.id', '=', 'ledger.session_id'),
    )
    .select(['ledger.id as ledger_id', 'ledger.created_at as charged_at', 'ledger.session_id'])
    .select((eb) => eb.neg(eb.ref('ledger.amount_ms')).$castTo<number>().as('charged_ms'))
    .select(['sessions.title', 'sessions.reference'])
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(ledger.created_at, ledger.id) > (${after!.charged_at}::timestamptz, ${after!.ledger_id}::uuid)`,
      ),
    )
    .orderBy('ledger.created_at')
    .orderBy('ledger.id')
    .limit(limit)
    .$narrowType<{ session_id: string }>()
    .execute();
}

function chargesIn(db: Queryable, accountId: string, { from, until }: Period) {
  return db
    .selectFrom('ledger')
    .where('ledger.account_id', '=', accountId)
    .where('ledger.kind', '=', 'charge')
    .where('ledger.created_at', '>=', from)
    .where('ledger.created_at', '<', until);
}
