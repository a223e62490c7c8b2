import { sql } from 'kysely';
import type { Queryable, Trx } from '../connection/database.ts';

export interface IdempotencyRecord {
  fingerprint: Buffer;
  session_id: string;
  job_id: string;
}

/**
 * The records of uploads with these Idempotency-Keys in the last 24 hours, in one statement.
 *
 * @returns in the order of `wanted`; undefined where there is none
 */
export async function findIdempotencyRecords(
  db: Queryable,
  wanted: readonly { accountId: string; key: string }[],
): Promise<(IdempotencyRecord | undefined)[]> {
  const accountIds = wanted.map(({ accountId }) => accountId);
  const keys = wanted.map(({ key }) => key);
  const { rows } = await sql<IdempotencyRecord & { place: number }>`
    select fingerprint, session_id, job_id, wanted.place::int
    from unnest(${accountIds}::uuid[], ${keys}::text[]) with ordinality as wanted (account_id, key, place)
    join idempotency using (account_id, key)
    where created_at > now() - interval '24 hours'`.execute(db);
  const byPlace = new Map(rows.map(({ place, ...record }) => [place, record]));
  return wanted.map((_, index) => byPlace.get(index + 1));
}

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
