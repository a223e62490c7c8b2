/** Which audio store is this database's. The same id is written in the store. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { KnownStore } from './schema.ts';
import type { Queryable } from './connection/database.ts';

/** Undefined before the first start. */
export function findKnownStore(db: Queryable): Promise<Selectable<KnownStore> | undefined> {
  return db.selectFrom('audio_store').select(['store_id', 'is_written']).executeTakeFirst();
}

/** Chooses the id that is about to be written. @param instead of any store that was known; otherwise that one stays */
export async function proposeStoreId(db: Queryable, storeId: string, instead = false): Promise<void> {
  const row = { store_id: storeId, is_written: false };
  await db
    .insertInto('audio_store')
    .values(row)
    .onConflict((known) => (instead ? known.expression(sql`one`).doUpdateSet(row) : known.doNothing()))
    .execute();
}

/** From now on a store with another id is another one. */
export async function confirmStoreId(db: Queryable, storeId: string): Promise<void> {
  await db.updateTable('audio_store').set({ is_written: true }).where('store_id', '=', storeId).execute();
}
