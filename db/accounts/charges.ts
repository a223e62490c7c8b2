/** What sessions have cost, for bills. */
import { sql } from 'kysely';
import type { Queryable } from '../connection/database.ts';

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

/** What was charged in a period: for how many sessions, and how much. */
export interface Sum {
  sessions: number;
  charged_ms: number;
}

export interface AccountSum extends Sum {
  id: string;
  /** Empty when it was deleted. */
  name: string;
  plan: string;
  deleted_at: string | null;
}

const sums = [
  sql<number>`count(*)`.as('sessions'),
  sql<number>`coalesce(-sum(amount_ms), 0)::bigint`.as('charged_ms'),
] as const;

/** @param accountId undefined: of all accounts */
export function sumCharges(db: Queryable, accountId: string | undefined, period: Period): Promise<Sum> {
  return chargesIn(db, period)
    .$if(accountId !== undefined, (query) => query.where('ledger.account_id', '=', accountId!))
    .select(sums)
    .executeTakeFirstOrThrow();
}

/**
 * What each account was charged in a period, at most `limit` accounts, in the order of their ids. Those that were deleted
 * are left out unless they were charged.
 *
 * @param after the last one of the page before
 */
export function listSums(
  db: Queryable,
  period: Period,
  { after, limit }: { after: AccountSum | undefined; limit: number },
): Promise<AccountSum[]> {
  return db
    .selectFrom('accounts')
    .innerJoinLateral(
      () =>
        chargesIn(db, period)
          .where(sql<boolean>`ledger.account_id = accounts.id`)
          .select(sums)
          .as('charged'),
      (join) => join.onTrue(),
    )
    .select(['accounts.id', 'name', 'plan', 'deleted_at', 'charged.sessions', 'charged.charged_ms'])
    .where((eb) => eb.or([eb('deleted_at', 'is', null), eb('charged.sessions', '>', 0)]))
    .$if(after !== undefined, (query) => query.where('accounts.id', '>', after!.id))
    .orderBy('accounts.id')
    .limit(limit)
    .execute();
}

/** The charges of a period, oldest first, at most `limit` of them. @param after the last one of the page before */
export function listCharges(
  db: Queryable,
  accountId: string,
  period: Period,
  { after, limit }: { after: Charge | undefined; limit: number },
): Promise<Charge[]> {
  return chargesIn(db, period)
    .where('ledger.account_id', '=', accountId)
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

function chargesIn(db: Queryable, { from, until }: Period) {
  return db
    .selectFrom('ledger')
    .where('ledger.kind', '=', 'charge')
    .where('ledger.created_at', '>=', from)
    .where('ledger.created_at', '<', until);
}
