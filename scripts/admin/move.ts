/** `move --to-database`: from the database of the settings to an empty one of another server. */
import { createHash } from 'node:crypto';
import { Option } from 'commander';
import { countServing } from '../../db/connection/server.ts';
import { findKnownStore } from '../../db/known-store.ts';
import { openDatabase } from '../../db/connection/database.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { moveDatabase, holdsData, unsuitableReason } from '../../db/moving/move-database.ts';
import { parseDatabaseUrl, withoutPassword } from '../../src/config/variables.ts';
import { verifyStore } from '../../src/files/verified-audio-store.ts';
import { migrateOnStart } from '../../src/process/migration.ts';
import { Mistake, Refusal } from '../terminal/refusal.ts';
import { noProgress, showProgressOn } from '../terminal/show-progress.ts';
import { count } from '../terminal/table.ts';
import { addCommand } from './command.ts';
import { Interrupted } from './exit.ts';
import { verify } from './verify.ts';
import type { Command } from 'commander';
import type { Db, Queryable } from '../../db/connection/database.ts';
import type { MoveResult } from '../../db/moving/move-database.ts';
import type { AudioStoreBackend } from '../../src/files/audio-store.ts';
import type { Progress } from '../terminal/show-progress.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Report } from './command.ts';

const form = 'postgres://user@host:port/database, with its password in PGPASSWORD';

export function addMoveCommand(program: Command, answer: Answer): void {
  const describes =
    'Move the database to another server while nothing serves, and verify it there. Interrupted, or killed, it is typed again. ' +
    'What was stays where it is.';
  const example = 'move --to-database postgres://transcription@db.internal:5432/transcription';
  addCommand(program, 'move', describes, example)
    .option('--to-database <url>', `the database, to this empty one: ${form}`)
    .addOption(new Option('--to-store [place]').hideHelp())
    .action(
      answer(
        (admin, url: string) => {
          const shows = admin.form === 'text' || admin.screen.isTTY;
          const progress = shows ? showProgressOn(admin.screen, { keep: false }) : noProgress;
          return moveToDatabase(admin, url, progress, admin.interruption.interrupted);
        },
        { first: readTarget },
      ),
    );
}

interface Options {
  toDatabase?: string;
  /** Of version 1.0.0. */
  toStore?: string | true;
}

async function readTarget({ toDatabase, toStore }: Options): Promise<[string]> {
  if (toStore !== undefined)
    throw new Mistake(
      '--to-store is gone: stop the service, copy the audio and its mark with the tools of the store, and set AUDIO_STORE, as scripts/deploy/OPERATIONS.md shows.',
    );
  if (toDatabase === undefined) throw new Mistake('Type where to: --to-database.');
  const url = parseDatabaseUrl(toDatabase);
  if (url === undefined) throw new Mistake(`--to-database is no address of a database. Type ${form}.`);
  return [url];
}

/**
 * Ends in `verify` of the new database, with its exit code. The old one keeps all its rows, and the audio store becomes the new
 * one's: a process that still uses the old one stands still.
 *
 * @param url leads to the server itself
 * @throws {Refusal} while something serves, or when the new database holds data
 */
export async function moveToDatabase(
  admin: AdminContext,
  url: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<Report> {
  const target = openDatabase(url, () => {}, { maxConnections: 2 });
  try {
    await refuseWhileServing(admin.db);
    await refuseWhileServing(target.db);
    const why = await unsuitableReason(target.db);
    if (why !== undefined) throw new Refusal(why);
    const moved = (await isMoved(admin, target.db)) ? undefined : await move(admin, target, progress, signal);
    const found = await verify({ ...admin, db: target.db, databaseUrl: url });
    const shown = withoutPassword(url);
    const json = { from: placeOf(admin), to: shown, ...moved, settings: { DATABASE_URL: shown }, verify: found.json };
    return { ...found, json, text: `${found.text}\n\n${textOf(admin, shown, moved)}` };
  } finally {
    await target.close();
  }
}

/** Whether an earlier move got to its end: the audio store is that of the new database. */
async function isMoved({ db, bareStore }: AdminContext, target: Db): Promise<boolean> {
  if (!(await holdsData(target))) return false;
  const [storeId, here, there] = [
    await bareStore.readStoreId(),
    await findKnownStore(db),
    await findKnownStore(target),
  ];
  if (storeId !== undefined && storeId === there?.store_id && storeId === successorOf(here)) return true;
  throw new Refusal(
    here?.store_id === there?.store_id
      ? 'The service uses this database already, or it is a copy of the one that it uses.'
      : 'The new database holds data: accounts, or what support did. Make an empty one.',
  );
}

async function move(
  { db, bareStore, databaseUrl, record }: AdminContext,
  target: { db: Db; url: string },
  progress: Progress,
  signal: AbortSignal,
): Promise<MoveResult> {
  const storeId = await storeIdFor(db, bareStore);
  const onNotice = (message: string) => progress.say(message);
  await migrateOnStart(target.db, { url: target.url, mayMigrate: true, onNotice });
  // Before anything is read: it is in the new database, too.
  await inTransaction(db, (trx) => record(trx, { act: 'move', details: { to: withoutPassword(target.url) } }));
  const step = progress.begin('copying all tables', 1);
  try {
    const moved = await moveDatabase({
      ...{ from: databaseUrl, to: target.url, storeId, signal },
      // Whatever began to serve with the old settings meanwhile accepts nothing from now on.
      beforeCommit: () => bareStore.writeStoreId(storeId),
      onProgress: (share) => step.reach(share),
    });
    step.end(true);
    return moved;
  } catch (error) {
    step.end(false);
    if (signal.aborted) throw new Interrupted();
    throw (error as { code?: unknown }).code === '55P03' ? new Refusal(busy) : error;
  }
}

const busy = 'Somebody writes to the old database: stop the service, and what else does; then type the same.';

/**
 * What the store will be marked with: always the same, since a move that was killed while it committed may have written it.
 *
 * @throws {AudioStoreLost} when the store is another database's
 */
async function storeIdFor(db: Db, store: AudioStoreBackend): Promise<string> {
  const [found, known] = [await store.readStoreId(), await findKnownStore(db)];
  if (found !== undefined && found === successorOf(known)) return found;
  return successorOf({ store_id: await verifyStore(db, store) })!;
}

/** The store id of the database that this one is moved to. */
function successorOf(known: { store_id: string } | undefined): string | undefined {
  if (known === undefined) return undefined;
  const digits = createHash('sha256').update(`moved from ${known.store_id}`).digest('hex');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

const placeOf = ({ isEmbedded, databaseUrl, dataDir }: AdminContext) =>
  isEmbedded ? `${dataDir}/postgres` : withoutPassword(databaseUrl);

function textOf(admin: AdminContext, to: string, moved: MoveResult | undefined): string {
  const did = moved === undefined ? 'It was moved before.' : `${count(moved.rows, 'row')} copied.`;
  return [
    `${did} ${admin.bareStore.place} is the audio store of the new database now.`,
    'Set for every process, and for npm run admin, before you start them, with its password:',
    `  DATABASE_URL=${to}`,
    `The old database is still in ${placeOf(admin)}, as it was. A process that uses it stands still.`,
    'To go back to it, without what came since: take the setting away, and type npm run admin -- store adopt',
  ].join('\n');
}

/** @throws {Refusal} while an API or a worker is connected to the database */
async function refuseWhileServing(db: Queryable): Promise<void> {
  const { apis, workers } = await countServing(db);
  if (apis + workers === 0) return;
  const found = [apis > 0 ? count(apis, 'API') : [], workers > 0 ? count(workers, 'worker') : []].flat().join(' and ');
  throw new Refusal(
    `The service runs on this database: ${found}. Stop every process, and the supervisor that would start it again; then type the same.`,
  );
}
