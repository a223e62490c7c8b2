import { sql } from 'kysely';
import type { Queryable } from './database.ts';

export interface AllowanceWindow {
  /** Whether the request was admitted; only then it counts. */
  admitted: boolean;
  /** Requests that this window still has room for. */
  remaining: number;
  /** Seconds until the window ends, 1 to 60. */
  endsInSeconds: number;
}

/**
 * Counts one request of an account in the current window of 60 s by the database's clock, unless the window is full.
 *
 * The window is computed in the update itself, with `clock_timestamp()`, that is after the row's lock was got: requests
 * that waited for each other over the end of a window are counted in the right one, and a clock that jumps in either
 * direction begins a new window. Only admitted requests are counted, so that a limit that changes within a window, or that
 * one process learns of before another, neither forgets nor invents any.
 *
 * @param allowance requests per window
 */
export async function countRequest(db: Queryable, accountId: string, allowance: number): Promise<AllowanceWindow> {
  const now = sql`extract(epoch from clock_timestamp())`;
  const { rows } = await sql<{ used: number | null; ends_in: number }>`
    with admitted as (
      insert into allowance as counted (account_id, window_number, used)
      select ${accountId}::uuid, floor(${now} / 60), 1 where ${allowance}::int > 0
      on conflict (account_id) do update set
        (window_number, used) = (
          select current_window, case when counted.window_number = current_window then counted.used + 1 else 1 end
          from (select floor(${now} / 60)::bigint as current_window) as clock
        )
        where counted.used < ${allowance}::int or counted.window_number <> floor(${now} / 60)
      returning used, ceil((window_number + 1) * 60 - ${now})::int as ends_in
    )
    select used, ends_in from admitted
    union all
    select null, ceil(60 - ${now} % 60)::int where not exists (select from admitted)`.execute(db);
  const { used, ends_in: endsIn } = rows[0]!;
  return {
    admitted: used !== null,
    remaining: used === null ? 0 : Math.max(0, allowance - used),
    endsInSeconds: Math.min(60, Math.max(1, endsIn)),
  };
}
