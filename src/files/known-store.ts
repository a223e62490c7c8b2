/**
 * Whether an audio store is the one that the database knows: both hold the same mark. A disk that is not mounted has none,
 * and another bucket has another.
 */
import { randomUUID } from 'node:crypto';
import { eachAudioOwner } from '../../db/audit/audio.ts';
import { confirmMark, findKnownStore, proposeMark, replaceMark } from '../../db/known-store.ts';
import { AudioStoreLost } from './audio-store.ts';
import type { Queryable } from '../../db/connection/database.ts';
import type { BareAudioStore } from './audio-store.ts';

const adoptCommand = 'npm run admin -- store adopt';
/** Sessions whose audio tells, before there is a mark, whether the store is the one that it was. */
const witnesses = 100;

/**
 * Makes sure that the store is the database's. Before the database knows one, as at the first start, the store is marked.
 *
 * @returns the mark
 * @throws {AudioStoreLost}
 */
export async function proveStore(db: Queryable, store: BareAudioStore): Promise<string> {
  // A process that marks a store writes the mark into the database before, and confirms it there afterwards.
  let found = await store.readMark();
  const known = await findKnownStore(db);
  if (known?.is_marked) found = await store.readMark();
  if (known?.is_marked || found !== undefined) {
    if (known?.mark !== found) throw new AudioStoreLost(whyAnother(store, found));
    await confirmMark(db, known!.mark);
    return known!.mark;
  }
  if (await hasLostAll(db, store)) throw new AudioStoreLost(whyAnother(store, undefined));
  await proposeMark(db, randomUUID());
  return writeMark(db, store);
}

/**
 * From now on this store is the database's, and the mark of before counts no more. Services of another database that used the
 * store stand still.
 */
export async function adoptStore(db: Queryable, store: BareAudioStore): Promise<string> {
  await replaceMark(db, randomUUID());
  return writeMark(db, store);
}

/** Why the store is not the database's, as a sentence; undefined when it is, or is not marked yet. It changes nothing. */
export async function whyNotOurs(db: Queryable, store: BareAudioStore): Promise<string | undefined> {
  const found = await store.readMark();
  const known = await findKnownStore(db);
  return found === known?.mark || (found === undefined && !known!.is_marked) ? undefined : whyAnother(store, found);
}

async function writeMark(db: Queryable, store: BareAudioStore): Promise<string> {
  const { mark } = (await findKnownStore(db))!;
  await store.writeMark(mark);
  await confirmMark(db, mark);
  return mark;
}

/** A version that marked no store may have been here before. */
async function hasLostAll(db: Queryable, store: BareAudioStore): Promise<boolean> {
  let seen = 0;
  for await (const { account_id, id } of eachAudioOwner(db)) {
    if (await store.exists(account_id, id)) return false;
    seen += 1;
    if (seen === witnesses) break;
  }
  return seen > 0;
}

function whyAnother({ place, looksFor }: BareAudioStore, found: string | undefined): string {
  const holds = found === undefined ? 'it does not hold its mark' : 'it holds the mark of another database';
  return `${place} is not the audio store of this database: ${holds}. ${looksFor} If it is to be this one from now on, type: ${adoptCommand}`;
}
