/** `move --to-store`: from the audio store of the settings to another one. */
import { inTransaction } from '../../../db/connection/transaction.ts';
import { beginMove, StoreTaken } from '../../../src/files/moving-store.ts';
import { Spool } from '../../../src/files/spool.ts';
import { tryStore } from '../../../src/files/store-trial.ts';
import { Mistake } from '../../terminal/mistake.ts';
import { Refusal } from '../../terminal/refusal.ts';
import { count } from '../../terminal/table.ts';
import { Interrupted } from '../exit.ts';
import { verify } from '../verify.ts';
import { copyRecordings } from './recordings.ts';
import { refuseWhileServing } from './serving.ts';
import type { BareAudioStore } from '../../../src/files/audio-store.ts';
import type { Progress } from '../../terminal/progress.ts';
import type { AdminContext } from '../admin-context.ts';
import type { Report } from '../command.ts';
import type { Copied } from './recordings.ts';

export interface ToStore {
  to: BareAudioStore;
  /** What every process is to be told. */
  settings: Record<string, string>;
  /** How the old files are removed. */
  removal: string;
}

/**
 * Ends in `verify` of the new store, with its exit code. The old store stays as it was.
 *
 * @throws {Refusal} while something serves, or when the new place is somebody else's
 */
export async function moveToStore(
  admin: AdminContext,
  { to, settings, removal }: ToStore,
  progress: Progress,
  signal: AbortSignal,
): Promise<Report> {
  const { db, bareStore: from, dataDir, record } = admin;
  if (from.place === to.place) throw new Mistake(`The audio store is ${to.place} already.`);
  await refuseWhileServing(db);
  const move = await beginMove(db, from, to).catch((error: unknown) => {
    throw error instanceof StoreTaken ? new Refusal(error.message) : error;
  });
  const spool = new Spool(dataDir);
  await spool.open();
  await tryStore(to, spool);
  const copied = move.hasOld ? await copyRecordings(db, { from, to, spool }, progress, signal) : nothing;
  if (signal.aborted) throw new Interrupted(`${progressOf(copied)} Type the same again, and it goes on from there.`);
  await refuseWhileServing(db);
  await inTransaction(db, async (trx) => {
    await move.end(trx);
    if (!move.isEnded) await record(trx, { act: 'move', details: { from: from.place, to: to.place } });
  });
  // Whatever began with the settings of before while that happened has found another store.
  await refuseWhileServing(db);
  const found = await verify({ ...admin, bareStore: to });
  const { examples, ...counts } = copied;
  const json = { from: from.place, to: to.place, ...counts, examples, settings, verify: found.json };
  const text = `${found.text}\n\n${textOf(copied, { from, to, settings, removal })}`;
  return { ...found, json, text };
}

const nothing: Copied = { recordings: 0, sent: 0, sentBytes: 0, there: 0, unreadable: 0, examples: [] };

const progressOf = ({ sent, sentBytes, there }: Copied) =>
  `${count(sent, 'recording')} copied (${sentBytes} bytes), ${there} were there already.`;

function textOf(copied: Copied, { from, to, settings, removal }: ToStore & { from: BareAudioStore }): string {
  const unreadable = `${count(copied.unreadable, 'recording')} could not be read in ${from.place}: ${copied.examples.join(', ')}`;
  const keys = settings['AUDIO_STORE'] === 'file:' ? '' : ', beside the key that you set here';
  return [
    `${progressOf(copied)} ${to.place} is the audio store of this database now.`,
    ...(copied.unreadable > 0 ? [unreadable] : []),
    `Set for every process, and for npm run admin, before you start them${keys}:`,
    ...Object.entries(settings).map(([name, value]) => `  ${name}=${value}`),
    `The old recordings are still in ${from.place}. When you are sure, remove them:`,
    `  ${removal}`,
  ].join('\n');
}
