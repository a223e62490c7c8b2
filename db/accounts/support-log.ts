/** The log of what support did. Rows are added and never changed, which triggers see to. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Queryable, Trx } from '../connection/database.ts';
import type { SupportAct, SupportLogTable } from '../schema.ts';

export type SupportLogEntry = Selectable<SupportLogTable>;

export interface LoggedAct {
  act: SupportAct;
  accountId?: string | undefined;
  /** Ids, numbers and names of plans. Never what a customer has written or said, and never a secret. */
  details?: object;
}

/**
 * Adds what support does to the log, in the transaction that does it. Nobody else can add to the log until that
 * transaction ends, so that its numbers have no gaps: it is the last that a transaction does.
 */
export async function addToSupportLog(
  trx: Trx,
  who: string,
  { act, accountId, details = {} }: LoggedAct,
): Promise<void> {
  await sql`lock table support_log in share row exclusive mode`.execute(trx);
  const last = trx.selectFrom('support_log').select(sql<number>`coalesce(max(number), 0)`.as('number'));
  const { number } = await last.executeTakeFirstOrThrow();
  await trx
    .insertInto('support_log')
    .values({ number: number + 1, who, act, account_id: accountId ?? null, details: JSON.stringify(details) })
    .execute();
}

/** Whether the database has the log: an older one has not, and an empty one. */
export async function hasSupportLog(db: Queryable): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`select to_regclass('support_log') is not null as there`.execute(db);
  return rows[0]!.there;
}

/** The newest entries, newest first. @param accountId only those about this account */
export function listSupportLog(
  db: Queryable,
  { accountId, limit }: { accountId?: string | undefined; limit: number },
): Promise<SupportLogEntry[]> {
  return db
    .selectFrom('support_log')
    .selectAll()
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId!))
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
}
