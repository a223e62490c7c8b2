/** Copies the recordings that sessions need from one audio store to another. What is there already and equal stays. */
import { open } from 'node:fs/promises';
import { countAudioOwners, eachAudioOwner } from '../../../db/audit/audio.ts';
import { AudioUnreadable } from '../../../src/files/audio-store.ts';
import type { AudioOwner } from '../../../db/audit/audio.ts';
import type { Queryable } from '../../../db/connection/database.ts';
import type { AudioSummary, BareAudioStore } from '../../../src/files/audio-store.ts';
import type { Spool } from '../../../src/files/spool.ts';
import type { Progress } from '../../terminal/progress.ts';

/** As many as a process of the service puts into an object store. */
const atOnce = 4;
const maxNamed = 20;

export interface Stores {
  from: BareAudioStore;
  to: BareAudioStore;
  /** Of this machine, for copies on their way. */
  spool: Spool;
}

export interface Copied {
  recordings: number;
  sent: number;
  sentBytes: number;
  /** Were there already. */
  there: number;
  /** The old store has lost them, or gives back other bytes than it took. */
  unreadable: number;
  /** Some of their sessions. */
  examples: string[];
}

/** @param signal ends it between two recordings; the same call goes on from there */
export async function copyRecordings(
  db: Queryable,
  stores: Stores,
  progress: Progress,
  signal: AbortSignal,
): Promise<Copied> {
  const total = await countAudioOwners(db);
  const step = progress.begin(`copying ${total} recordings`, total);
  const copied: Copied = { recordings: 0, sent: 0, sentBytes: 0, there: 0, unreadable: 0, examples: [] };
  const owners = eachAudioOwner(db);
  // All take from one line. What ends one of them ends the line.
  const lanes = Array.from({ length: atOnce }, async () => {
    for await (const owner of owners) {
      if (signal.aborted) return;
      await copyOne(owner, stores, copied, signal);
      step.reach(++copied.recordings);
    }
  });
  const failed = (await Promise.allSettled(lanes)).find(({ status }) => status === 'rejected');
  step.end(failed === undefined && !signal.aborted);
  if (failed !== undefined && !signal.aborted) throw (failed as PromiseRejectedResult).reason;
  return copied;
}

async function copyOne(owner: AudioOwner, stores: Stores, copied: Copied, signal: AbortSignal): Promise<void> {
  const { from, to, spool } = stores;
  const { account_id, id } = owner;
  const [source, target] = await Promise.all([from.summaryOf(account_id, id), to.summaryOf(account_id, id)]);
  if (target !== undefined && (source === undefined || areEqual(source, target))) {
    copied.there += 1;
    return;
  }
  const copy = spool.newPath();
  try {
    if (source === undefined) throw new AudioUnreadable(`the audio of ${id} is not in ${from.place}`);
    const file = await from.fetch(account_id, id, { to: copy, bytes: source.bytes, signal });
    if (from.fetchesCopies) await toDisk(file);
    if (target !== undefined) await to.remove(account_id, id);
    await to.put(file, account_id, id);
    copied.sent += 1;
    copied.sentBytes += source.bytes;
  } catch (error) {
    if (!(error instanceof AudioUnreadable)) throw error;
    copied.unreadable += 1;
    if (copied.examples.length < maxNamed) copied.examples.push(id);
  } finally {
    await spool.remove(copy);
  }
}

const areEqual = (one: AudioSummary, other: AudioSummary) =>
  one.bytes === other.bytes && one.crc32 !== undefined && one.crc32 === other.crc32;

/** As an upload is before a store takes it over. */
async function toDisk(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
