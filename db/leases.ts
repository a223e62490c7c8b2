/** What one process of all does for them, once in a while. */
import { sql } from 'kysely';
import type { Queryable } from './connection/database.ts';

/**
 * Takes the turn at something that is to be done every so many seconds, by the clock of the database.
 * @returns false while the lease is held
 */
export async function acquireLease(db: Queryable, name: string, everySeconds: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('leases')
    .values({ name, taken_at: sql<string>`clock_timestamp()` })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ taken_at: sql<string>`clock_timestamp()` })
        // A turn of the future was taken before the clock was set back. Not `now()`: of two that come at once, the second
        // waits for the first, and its own transaction may have begun before the turn was taken.
        .where(
          sql<boolean>`leases.taken_at not between clock_timestamp() - make_interval(secs => ${everySeconds})
            and clock_timestamp()`,
        ),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

const languages = 'languages ';
const unknown = '?';

/** What a worker says once a minute: the languages that its recognizer knows (BCP 47). Undefined: it is unknown which. */
export async function shareLanguages(db: Queryable, known: readonly string[] | undefined): Promise<void> {
  await acquireLease(db, languages + (known?.join() ?? unknown), 0);
}

/**
 * The languages that some worker of the last ten minutes knows, so that one that starts anew counts. Undefined where there was
 * none, or it is unknown of one which it knows.
 */
export async function findSharedLanguages(db: Queryable): Promise<string[] | undefined> {
  const rows = await db
    .selectFrom('leases')
    .select('name')
    .where('name', 'like', `${languages}%`)
    .where(sql<boolean>`taken_at > clock_timestamp() - interval '10 minutes'`)
    .execute();
  const known = rows.flatMap(({ name }) => name.slice(languages.length).split(','));
  return rows.length === 0 || known.includes(unknown) ? undefined : [...new Set(known)].sort();
}

/** Makes a turn at least so many seconds old, so that the next one is due earlier. */
export async function ageLease(db: Queryable, name: string, seconds: number): Promise<void> {
  await db
    .updateTable('leases')
    .set({ taken_at: sql<string>`least(taken_at, clock_timestamp() - make_interval(secs => ${seconds}))` })
    .where('name', '=', name)
    .execute();
}

/**
 * What is counted for all processes by one of them, at most every so many seconds. It is counted anew for this one when what is
 * kept is twice as old: whoever had the turn has found nothing.
 */
export async function sharedCache<Found extends object>(
  db: Queryable,
  name: string,
  everySeconds: number,
  find: () => Promise<Found>,
): Promise<Found> {
  if (!(await acquireLease(db, name, everySeconds))) {
    const kept = await db
      .selectFrom('leases')
      .select('found')
      .where('name', '=', name)
      .where(
        sql<boolean>`found_at between clock_timestamp() - make_interval(secs => ${2 * everySeconds}) and clock_timestamp()`,
      )
      .executeTakeFirst();
    if (kept?.found) return JSON.parse(kept.found) as Found;
  }
  const found = await find();
  await db
    .updateTable('leases')
    .set({ found: JSON.stringify(found), found_at: sql<string>`clock_timestamp()` })
    .where('name', '=', name)
    .execute();
  return found;
}
