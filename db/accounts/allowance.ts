/**
 * Counts requests of accounts in windows of 60 s by the database's clock, as many as each window has room for.
 *
 * The update itself computes the window with `clock_timestamp()`, after it has got the row's lock. So requests that
 * waited for each other over the end of a window count in the right one, and a clock that jumps begins a new window.
 * Only admitted requests are counted. So no request is lost or invented when a limit changes within a window, or when
 * one process learns of it before another.
 */
import { sql } from 'kysely';
import { Prepared } from '../connection/prepared.ts';
import type { Queryable } from '../connection/database.ts';

/** Requests of an account. */
export interface Spending {
  accountId: string;
  /** Requests per window. */
  allowance: number;
  wanted: number;
}

export interface AllowanceWindow {
  /** How many more requests the window took, before those that were counted now. */
  room: number;
  /** Seconds until the window ends, 1 to 60. */
  endsInSeconds: number;
}

/**
 * @param asked each account once
 * @returns by account. The first requests of an account are counted and admitted, as many as there was room for
 */
export async function countRequests(db: Queryable, asked: readonly Spending[]): Promise<Map<string, AllowanceWindow>> {
  const rows = await counted.run(db, {
    accountIds: asked.map(({ accountId }) => accountId),
    allowances: asked.map(({ allowance }) => allowance),
    wanted: asked.map(({ wanted }) => wanted),
  });
  return new Map(
    rows.map(({ account_id: id, room, ends_in: endsIn }) => [
      id,
      { room, endsInSeconds: Math.min(60, Math.max(1, endsIn)) },
    ]),
  );
}

const now = sql`extract(epoch from clock_timestamp())`;

interface Asked {
  accountIds: string[];
  allowances: number[];
  wanted: number[];
}

const counted = new Prepared<Asked, { account_id: string; room: number; ends_in: number }>(
  'count-requests',
  (db, parameter) => {
    // A new window has room for the whole allowance, so `excluded.room` is the allowance.
    // In the order of their ids, so that no two processes wait for each other's rows.
    const statement = sql<{ account_id: string; room: number; ends_in: number }>`
      insert into allowance as counted (account_id, window_number, used, room)
      select account_id, floor(${now} / 60), least(wanted, allowance), allowance
      from unnest(${parameter('accountIds')}::uuid[], ${parameter('allowances')}::int[], ${parameter('wanted')}::int[])
        as asked (account_id, allowance, wanted)
      order by account_id
      on conflict (account_id) do update set (window_number, used, room) = (
        select this_window, before + least(excluded.used, room), room
        from (select floor(${now} / 60)::bigint as this_window) as clock
        cross join lateral (
          select case when counted.window_number = this_window then counted.used else 0 end as before) as earlier
        cross join lateral (select greatest(0, excluded.room - before) as room) as left_over
      )
      returning account_id, room, ceil((window_number + 1) * 60 - ${now})::int as ends_in`;
    return { compile: () => statement.compile(db) };
  },
);
