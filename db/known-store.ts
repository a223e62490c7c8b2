/** Which audio store is this database's. The same mark is written in the store. */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { KnownStore } from './schema.ts';
import type { Queryable } from './connection/database.ts';

/** Undefined before the first start. */
export function findKnownStore(db: Queryable): Promise<Selectable<KnownStore> | undefined> {
  return db.selectFrom('audio_store').select(['mark', 'is_marked']).executeTakeFirst();
}

/** Chooses the mark that is about to be written, unless another process has chosen one. */
export async function proposeMark(db: Queryable, mark: string): Promise<void> {
  await db
    .insertInto('audio_store')
    .values({ mark, is_marked: false })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Chooses another mark that is about to be written, whatever store was known. */
export async function replaceMark(db: Queryable, mark: string): Promise<void> {
  await db
    .insertInto('audio_store')
    .values({ mark, is_marked: false })
    .onConflict((conflict) => conflict.expression(sql`one`).doUpdateSet({ mark, is_marked: false }))
    .execute();
}

/** From now on a store without this mark is another one. */
export async function confirmMark(db: Queryable, mark: string): Promise<void> {
  await db.updateTable('audio_store').set({ is_marked: true }).where('mark', '=', mark).execute();
}
