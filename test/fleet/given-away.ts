/** Sessions that a worker held when it fell silent, and that another one has taken since. */
import type { Db } from '../../db/connection/database.ts';
import type { Held } from '../rig/held.ts';

/** What the row said when the first worker came back. */
export interface GivenAway extends Held {
  status: string;
}

/** Whether all of them have ended, so that none can be given away any more. */
export async function haveEnded(db: Db, held: readonly Held[]): Promise<boolean> {
  const ids = held.map(({ id }) => id);
  const query = db.selectFrom('sessions').select('id').where('id', 'in', ids);
  return (await query.where('status', 'in', ['queued', 'processing']).execute()).length === 0;
}

export async function givenAway(db: Db, held: readonly Held[]): Promise<GivenAway[]> {
  if (held.length === 0) return [];
  const ids = held.map(({ id }) => id);
  const rows = await db.selectFrom('sessions').select(['id', 'attempt', 'status']).where('id', 'in', ids).execute();
  return rows.filter(({ id, attempt }) => held.some((before) => before.id === id && attempt > before.attempt));
}

/**
 * What the worker that came back changed of sessions that were no longer its own. The attempt of a session that was
 * final is the one that ended it; one that was being heard ends with that attempt or a later one.
 */
export async function changedByReturned(db: Db, gone: readonly GivenAway[]): Promise<string[]> {
  if (gone.length === 0) return [];
  const ids = gone.map(({ id }) => id);
  const rows = await db.selectFrom('sessions').select(['id', 'attempt', 'status']).where('id', 'in', ids).execute();
  return gone.flatMap(({ id, attempt, status }) => {
    const now = rows.find((row) => row.id === id);
    const wasFinal = ['completed', 'failed'].includes(status);
    const isSame = wasFinal ? now?.status === status && now.attempt === attempt : now !== undefined && now.attempt >= attempt; // prettier-ignore
    return isSame ? [] : [`${id} was ${status} (attempt ${attempt}), and is ${now?.status} (attempt ${now?.attempt})`];
  });
}
