import { sql } from 'kysely';
import { NamedQuery } from '../connection/named-query.ts';
import type { Selectable } from 'kysely';
import type { Queryable, Trx } from '../connection/database.ts';
import type { IdempotencyTable } from '../schema.ts';

export type IdempotencyRecord = Pick<Selectable<IdempotencyTable>, 'fingerprint' | 'session_id' | 'job_id'>;

/** The record of an upload that was accepted with this Idempotency-Key in the last 24 hours. */
export async function findIdempotencyRecord(
  db: Queryable,
  accountId: string,
  key: string | undefined,
): Promise<IdempotencyRecord | undefined> {
  if (key === undefined) return undefined;
  const [record] = await records.run(db, { accountId, key });
  return record;
}

const records = new NamedQuery<{ accountId: string; key: string }, IdempotencyRecord>('record', (db, parameter) =>
  db
    .selectFrom('idempotency')
    .select(['fingerprint', 'session_id', 'job_id'])
    .where('account_id', '=', parameter('accountId'))
    .where('key', '=', parameter('key'))
    .where('created_at', '>', sql<string>`now() - interval '24 hours'`),
);

/**
 * Records an upload under its Idempotency-Key, in the transaction that creates its session. Of two uploads with the
 * same key, the second waits here for the first.
 *
 * @returns false when there is a record of the last 24 hours; then nothing was changed
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
