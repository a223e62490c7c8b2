/** What one process of all does for them, once in a while. */
import { sql } from 'kysely';
import type { Queryable } from './database.ts';

/**
 * Takes the turn at something that is to be done every so many seconds, by the clock of the database.
 * @returns false while it is somebody's turn already
 */
export async function takeTurn(db: Queryable, name: string, everySeconds: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('turns')
    .values({ name, taken_at: sql<string>`now()` })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ taken_at: sql<string>`now()` })
        // A turn of the future was taken before the clock was set back.
        .where(sql<boolean>`turns.taken_at not between now() - make_interval(secs => ${everySeconds}) and now()`),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}
