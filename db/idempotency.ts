import { sql } from 'kysely';
import type { Queryable, Trx } from './database.ts';

export interface IdempotencyRecord {
  fingerprint: Buffer;
  session_id: string;
  job_id: string;
}

/** The record of an upload with this Idempotency-Key in the last 24 hours. */
export function findIdempotencyRecord(
  db: Queryable,
  accountId: string,
  key: string,
): Promise<IdempotencyRecord | undefined> {
  return db
    .selectFrom('idempotency')
    .select(['fingerprint', 'session_id', 'job_id'])
    .where('account_id', '=', accountId)
    .where('key', '=', key)
    .where('created_at', '>', sql<string>`now() - interval '24 hours'`)
    .executeTakeFirst();
}

/**
 * Records an upload under its Idempotency-Key, in the transaction that creates its session. Two at once wait for each
 * other here.
 *
 * @returns false when a record of the last 24 hours stands: then nothing changed
 */
export async function insertIdempotencyRecord(
  trx: Trx,
  record: IdempotencyRecord & { account_id: string; key: string },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('idempotency')
    .values({ ...record, created_at: sql<string>`now()` })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'key'])
        .doUpdateSet((eb) => ({
          fingerprint: eb.ref('excluded.fingerprint'),
          session_id: eb.ref('excluded.session_id'),
          job_id: eb.ref('excluded.job_id'),
          created_at: eb.ref('excluded.created_at'),
        }))
        .where('idempotency.created_at', '<=', sql<string>`now() - interval '24 hours'`),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

export async function deleteExpiredIdempotencyRecords(db: Queryable): Promise<void> {
  await db
    .deleteFrom('idempotency')
    .where('created_at', '<=', sql<string>`now() - interval '24 hours'`)
    .execute();
}

export async function deleteIdempotencyRecords(trx: Trx, accountId: string, sessionId?: string): Promise<void> {
  await trx
    .deleteFrom('idempotency')
    .where('account_id', '=', accountId)
    .$if(sessionId !== undefined, (query) => query.where('session_id', '=', sessionId!))
    .execute();
}
