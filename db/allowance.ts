import { sql } from 'kysely';
import { Prepared } from './prepared.ts';
import type { Queryable } from './database.ts';

export interface AllowanceWindow {
  /** Whether the request was admitted. Only admitted requests count. */
  admitted: boolean;
  /** Requests that this window still has room for. */
  remaining: number;
  /** Seconds until the window ends, 1 to 60. */
  endsInSeconds: number;
}

/**
 * Counts one request of an account in the current window of 60 s by the database's clock, unless the window is full.
 *
 * The update itself computes the window with `clock_timestamp()`, after it has got the row's lock. So requests that
 * waited for each other over the end of a window count in the right one, and a clock that jumps begins a new window.
 * Only admitted requests are counted. So no request is lost or invented when a limit changes within a window, or when
 * one process learns of it before another.
 *
 * @param allowance requests per window
 */
export async function countRequest(db: Queryable, accountId: string, allowance: number): Promise<AllowanceWindow> {
  const [row] = await counted.run(db, { accountId, allowance });
  const { used, ends_in: endsIn } = row!;
  return {
    admitted: used !== null,
    remaining: used === null ? 0 : Math.max(0, allowance - used),
    endsInSeconds: Math.min(60, Math.max(1, endsIn)),
  };
}

const now = sql`extract(epoch from clock_timestamp())`;

interface Count {
  used: number | null;
  ends_in: number;
}

const counted = new Prepared<{ accountId: string; allowance: number }, Count>('count-request', (db, parameter) => {
  const [accountId, allowance] = [parameter('accountId'), parameter('allowance')];
  const statement = sql<Count>`
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
      select null, ceil(60 - ${now} % 60)::int where not exists (select from admitted)`;
  return { compile: () => statement.compile(db) };
});

/**
 * Counts one request of an account whose window has begun and has room, as {@link countRequest} does, in half the time.
 *
 * @returns undefined when nothing was counted: then {@link countRequest} begins a window, or refuses
 */
export async function countFurtherRequest(
  db: Queryable,
  accountId: string,
  allowance: number,
): Promise<FittingCount | undefined> {
  const [row] = await countedFurther.run(db, { accountId, allowance });
  return row && { used: row.used, endsInSeconds: Math.min(60, Math.max(1, row.ends_in)) };
}

const countedFurther = new Prepared<{ accountId: string; allowance: number }, { used: number; ends_in: number }>(
  'count-further-request',
  (db, parameter) => {
    const statement = sql<{ used: number; ends_in: number }>`
      update allowance set used = used + 1
      where account_id = ${parameter('accountId')}::uuid and window_number = floor(${now} / 60)::bigint
        and used < ${parameter('allowance')}::int
      returning used, ceil((window_number + 1) * 60 - ${now})::int as ends_in`;
    return { compile: () => statement.compile(db) };
  },
);

export interface FittingCount {
  /** Requests counted in this window, including these. */
  used: number;
  /** Seconds until the window ends, 1 to 60. */
  endsInSeconds: number;
}

/**
 * Counts several requests of several accounts at once, as {@link countRequest} counts one. The requests of an account
 * are admitted all together, or none of them when not all fit into its window.
 *
 * @param asked each account once
 * @returns by account; only accounts whose requests were all admitted
 */
export async function countRequestsThatFit(
  db: Queryable,
  asked: readonly { accountId: string; allowance: number; wanted: number }[],
): Promise<Map<string, FittingCount>> {
  const rows = await countedTogether.run(db, {
    accountIds: asked.map(({ accountId }) => accountId),
    allowances: asked.map(({ allowance }) => allowance),
    wanted: asked.map(({ wanted }) => wanted),
  });
  return new Map(
    rows.map(({ account_id: id, used, ends_in: endsIn }) => [
      id,
      { used, endsInSeconds: Math.min(60, Math.max(1, endsIn)) },
    ]),
  );
}

interface Together {
  accountIds: string[];
  allowances: number[];
  wanted: number[];
}

const countedTogether = new Prepared<Together, { account_id: string; used: number; ends_in: number }>(
  'count-requests',
  (db, parameter) => {
    // In the order of their ids, so that no two processes wait for each other's rows.
    const statement = sql<{ account_id: string; used: number; ends_in: number }>`
      with asked as (
        select * from unnest(${parameter('accountIds')}::uuid[], ${parameter('allowances')}::int[], ${parameter('wanted')}::int[])
          as asked (account_id, allowance, wanted)
        where wanted <= allowance
      )
      insert into allowance as counted (account_id, window_number, used)
      select account_id, floor(${now} / 60), wanted from asked order by account_id
      on conflict (account_id) do update set
        (window_number, used) = (
          select current_window, case when counted.window_number = current_window then counted.used else 0 end + excluded.used
          from (select floor(${now} / 60)::bigint as current_window) as clock
        )
        where counted.window_number <> floor(${now} / 60)
          or counted.used + excluded.used <= (select allowance from asked where account_id = counted.account_id)
      returning account_id, used, ceil((window_number + 1) * 60 - ${now})::int as ends_in`;
    return { compile: () => statement.compile(db) };
  },
);
