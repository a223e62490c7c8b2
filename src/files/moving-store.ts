/**
 * Which audio store is the database's while its audio moves from one to another. The new one gets its own mark before
 * anything is copied, and the database changes its mind at the end, in one row: until then the old store counts, and
 * afterwards processes with the settings of before stand still.
 */
import { randomUUID } from 'node:crypto';
import { exchangeStores, findKnownStore, nameOther } from '../../db/known-store.ts';
import { proveStore } from './known-store.ts';
import type { Queryable } from '../../db/connection/database.ts';
import type { BareAudioStore } from './audio-store.ts';

export interface Move {
  /** Whether the new store is the database's already: an earlier move got so far. */
  isEnded: boolean;
  /** Whether the old one is what it was, so that more can be copied from it. */
  hasOld: boolean;
  /** From now on the new store is the database's. */
  end(db: Queryable): Promise<void>;
}

/** The store to move to is in use by somebody else. The message says how. */
export class StoreTaken extends Error {
  override readonly name = 'StoreTaken';
}

/**
 * Begins to move audio, or goes on with it. A killed move is gone on with by the same call.
 *
 * @throws {StoreTaken}
 * @throws {AudioStoreLost} when the old store is not the database's
 */
export async function beginMove(db: Queryable, from: BareAudioStore, to: BareAudioStore): Promise<Move> {
  const [old, found, known] = [await from.readMark(), await to.readMark(), await findKnownStore(db)];
  if (known?.is_marked && found === known.mark && old !== known.mark)
    return { isEnded: true, hasOld: old !== undefined && old === known.other_mark, end: async () => {} };
  const mark = await proveStore(db, from);
  const end = (other: string): Move => ({
    ...{ isEnded: false, hasOld: true },
    end: (trx) => exchangeStores(trx, mark, other),
  });
  if (found !== undefined && found === known?.other_mark) return end(found);
  if (found === undefined) await refuseAudio(to);
  // Somebody has copied the store by hand, with its mark.
  else if (found !== mark)
    throw new StoreTaken(`${to.place} holds the mark of another database: choose an empty place.`);
  const other = randomUUID();
  await nameOther(db, mark, other);
  await to.writeMark(other);
  return end(other);
}

async function refuseAudio(store: BareAudioStore): Promise<void> {
  for await (const { accountId, name } of store.list())
    throw new StoreTaken(`${store.place} is not empty: it holds ${accountId}/${name}. Choose an empty place.`);
}
