/**
 * Counts requests of accounts in windows of 60 s by the database's clock, as many as each window has room for.
 *
 * The update itself computes the window with `clock_timestamp()`, after it has got the row's lock. So requests that
 * waited for each other over the end of a window count in the right one, and a clock that jumps begins a new window.
 * Only admitted requests are counted. So no request is lost or invented when a limit changes within a window, or when
 * one process learns of it before another.
 */
import { sql } from 'kysely';
import { NamedQuery } from '../connection/named-query.ts';
import type { Queryable } from '../connection/database.ts';

/** Requests of an account that are counted together. */
export interface Spending {
  accountId: string;
  /** Requests per window. */
  allowance: number;
  wanted: number;
}

export type AllowanceWindow = Awaited<ReturnType<typeof countRequests>>;

/**
 * Counts requests and admits as many of them as there is room for.
 * @returns how many more requests the window took before these, and the seconds until it ends, 1 to 60
 */
export async function countRequests(db: Queryable, spending: Spending) {
  const [window] = await counted.run(db, spending);
  const { room, ends_in: endsIn } = window!;
  return { room, endsInSeconds: Math.min(60, Math.max(1, endsIn)) };
}

const now = sql`extract(epoch from clock_timestamp())`;

const counted = new NamedQuery<Spending, { room: number; ends_in: number }>('count-requests', (db, parameter) => {
  const [accountId, allowance, wanted] = [parameter('accountId'), parameter('allowance'), parameter('wanted')];
  // A new window has room for the whole allowance, so `excluded.room` is the allowance.
  const statement = sql<{ room: number; ends_in: number }>`
    insert into allowance as counted (account_id, window_number, used, room)
    values (${accountId}, floor(${now} / 60), least(${wanted}::int, ${allowance}::int), ${allowance})
    on conflict (account_id) do update set (window_number, used, room) = (
      select this_window, before + least(${wanted}::int, room), room
      from (select floor(${now} / 60)::bigint as this_window) as clock
      cross join lateral (
        select case when counted.window_number = this_window then counted.used else 0 end as before) as earlier
      cross join lateral (select greatest(0, excluded.room - before) as room) as left_over
    )
    returning room, ceil((window_number + 1) * 60 - ${now})::int as ends_in`;
  return { compile: () => statement.compile(db) };
});
