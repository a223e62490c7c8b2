import { sql } from 'kysely';
import type { Queryable } from './database.ts';

export interface AllowanceWindow {
  /** Requests of this window, this one included; never above the allowance + 1. */
  used: number;
  /** Seconds until the window ends, 1 to 60. */
  endsInSeconds: number;
}

/**
 * Counts one request of an account in the current window of 60 s by the database's clock.
 *
 * The window is computed in the update itself, with `clock_timestamp()`, that is after the row's lock was got: requests
 * that waited for each other over the end of a window are counted in the right one, and a clock that jumps in either
 * direction begins a new window.
 *
 * @param allowance requests per window
 */
export async function countRequest(db: Queryable, accountId: string, allowance: number): Promise<AllowanceWindow> {
  const now = sql`extract(epoch from clock_timestamp())`;
  const { rows } = await sql<{ used: number; ends_in: number }>`
    insert into allowance as counted (account_id, window_number, used)
    values (${accountId}, floor(${now} / 60), 1)
    on conflict (account_id) do update set
      (window_number, used) = (
        select current_window,
          case when counted.window_number = current_window then least(counted.used + 1, ${allowance}::int + 1) else 1 end
        from (select floor(${now} / 60)::bigint as current_window) as clock
      )
    returning used, ceil((window_number + 1) * 60 - ${now})::int as ends_in`.execute(db);
  const row = rows[0]!;
  return { used: row.used, endsInSeconds: Math.min(60, Math.max(1, row.ends_in)) };
}
