/** `backup` and `restore`: the embedded database and its audio as they are at one moment, while the service works. */
import { existsSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { eachAudioOwner } from '../../db/audit/audio.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { copyCluster } from './base-backup.ts';
import { clusterPaths, placeCluster } from '../../db/embedded/cluster.ts';
import { readConfig } from '../../src/config/config.ts';
import { AudioStoreUnavailable } from '../../src/files/audio-store.ts';
import { FileAudioStore } from '../../src/files/file-audio-store.ts';
import { adoptStore } from '../../src/files/verified-audio-store.ts';
import { isNotFound } from '../../src/files/touched-files.ts';
import { postgresFolder } from '../../src/process/database-url.ts';
import { Refusal } from '../terminal/refusal.ts';
import { count } from '../terminal/table.ts';
import { addCommand } from './command.ts';
import { verify } from './verify.ts';
import { NewBackup, copyBack, readBackup, refuseUnlessEmpty, syncDiskOf } from './backup-folder.ts';
import type { FileHandle } from 'node:fs/promises';
import type { Command } from 'commander';
import type { AudioOwner } from '../../db/audit/audio.ts';
import type { Config } from '../../src/config/config.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Report } from './command.ts';
import type { BackupNotes } from './backup-folder.ts';

export function addBackupCommands(program: Command, answer: Answer, env: NodeJS.ProcessEnv): void {
  const backsUp = 'Copy the embedded database and its audio as they are at one moment, while the service works.';
  addCommand(program, 'backup', backsUp, 'backup --to /mnt/backups/2026-11-22')
    .requiredOption('--to <folder>', 'a folder that is not there yet, or is empty')
    .action(answer((admin, { to }: { to: string }) => backUp(admin, to)));

  const restores = 'Make a data folder of a backup, in an empty DATA_DIR, and verify it.';
  addCommand(program, 'restore', restores, 'restore --from /mnt/backups/2026-11-22')
    .requiredOption('--from <folder>', 'what "backup" has written')
    .action(
      answer(look, {
        async first({ from }: { from: string }): Promise<[]> {
          await bringBack(readConfig(env), from);
          return [];
        },
      }),
    );
}

/** @throws {Refusal} when the database is not the embedded one, something is in the folder, or it lies within `DATA_DIR` */
export async function backUp(admin: AdminContext, folder: string): Promise<Report> {
  if (!admin.isEmbedded) throw new Refusal(ofItsOwn);
  if (!relative(admin.dataDir, folder).startsWith('..'))
    throw new Refusal(`${folder} lies within DATA_DIR, with which it would be lost: choose another disk.`);
  // The recordings of a disk that is not mounted would be missing.
  await admin.audioStore.open().catch((error: unknown) => {
    throw error instanceof AudioStoreUnavailable ? new Refusal(error.message) : error;
  });
  const backup = await NewBackup.in(folder);
  try {
    // Before anything is read: a backup that is broken off has been one, too.
    await inTransaction(admin.db, (trx) => admin.record(trx, { act: 'backup' }));
    const { notes, lost } = await copyAll(admin, backup);
    return {
      json: { folder: backup.path, madeAt: notes.madeAt, audioFiles: notes.audioFiles, bytes: notes.bytes, lost },
      text: `${backup.path}: the database and ${count(notes.audioFiles, 'recording')}, ${notes.bytes} bytes.`,
      note: lost.length === 0 ? undefined : `${count(lost.length, 'session')} without audio: see verify.`,
      exitCode: lost.length === 0 ? 0 : 1,
    };
  } catch (error) {
    // What can't be removed lacks its backup.json.
    await backup.discard().catch(() => {});
    throw error;
  }
}

export const ofItsOwn =
  'This is for the embedded database and the audio beside it. DATABASE_URL is set: use the tools of that PostgreSQL, and those ' +
  'of the object store where AUDIO_STORE is s3://, as scripts/deploy/OPERATIONS.md shows.';

async function copyAll(admin: AdminContext, backup: NewBackup): Promise<{ notes: BackupNotes; lost: string[] }> {
  const audio = new AudioCopy(admin, backup);
  const within = (name: string) => `database/${name}`;
  const copy = {
    folder: (name: string) => backup.addFolder(within(name)),
    file: (name: string, path: string) => backup.addFile(within(name), path),
    content: (name: string, content: Buffer) => backup.addStream(within(name), Readable.from([content])),
  };
  const ends = { beforeTheEnd: () => audio.catchUp(), atTheEnd: () => audio.hold() };
  await copyCluster(clusterPaths(postgresFolder(admin.dataDir)).data, admin.databaseUrl, copy, ends);
  const audioFiles = await audio.finish();
  return { notes: await backup.finish(audioFiles), lost: audio.lost };
}

/**
 * Copies a backup into the data folder, whose database appears last. Nothing may be in the data folder. When it fails, what it
 * brought goes again; what a service made there meanwhile stays.
 *
 * @throws {Refusal} when it is no whole backup, or something is in the data folder
 */
export async function bringBack({ databaseUrl, dataDir }: Config, folder: string): Promise<void> {
  if (databaseUrl !== undefined) throw new Refusal(ofItsOwn);
  const { notes, files } = await readBackup(folder);
  await refuseUnlessEmpty(dataDir, 'A backup is restored to an empty DATA_DIR');
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const staging = join(dataDir, 'restoring');
  const brought: string[] = [];
  const bring = async (path: string, work: () => Promise<void>) => {
    if (existsSync(path)) throw new Refusal(`${path} appeared while the backup was copied. Stop the service first.`);
    brought.push(path);
    await work();
  };
  try {
    for (const name of ['database', 'audio', ...notes.folders])
      await mkdir(join(staging, name), { recursive: true, mode: 0o700 });
    for (const file of files) await copyBack(folder, file, join(staging, file.name));
    await syncDiskOf(staging);
    const [audio, postgres] = [join(dataDir, 'audio'), postgresFolder(dataDir)];
    await bring(audio, () => rename(join(staging, 'audio'), audio));
    await bring(postgres, () => placeCluster(clusterPaths(postgres), join(staging, 'database')));
  } catch (error) {
    for (const path of brought) await rm(path, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Tells the database that its audio is here now, and checks what was brought back. */
export async function look(admin: AdminContext): Promise<Report> {
  await adoptStore(admin.db, admin.bareStore);
  await inTransaction(admin.db, (trx) => admin.record(trx, { act: 'restore' }));
  return verify(admin);
}

/** So few files are opened in a moment, and no process may open many more. */
const fewFiles = 50;
const maxRounds = 20;
const maxHeld = 500;

const nameOf = ({ account_id, id }: AudioOwner) => `audio/${account_id}/${id}`;

/**
 * The audio of a backup: exactly what the sessions need at its moment. Audio never changes, but workers remove it as soon as
 * its session is completed. So it is copied beforehand, round by round, and at the moment itself the last files are opened:
 * an open file can still be read when it has been removed.
 */
export class AudioCopy {
  readonly #db: AdminContext['db'];
  readonly #store: FileAudioStore;
  readonly #backup: NewBackup;
  #needed = new Set<string>();
  readonly #held: { name: string; file: FileHandle }[] = [];
  /** Sessions that have no audio although they need it: `verify` names them. */
  readonly lost: string[] = [];

  constructor({ db, dataDir }: Pick<AdminContext, 'db' | 'dataDir'>, backup: NewBackup) {
    this.#db = db;
    this.#store = new FileAudioStore(dataDir);
    this.#backup = backup;
  }

  /** Copies until only a few files are new since the last look. */
  async catchUp(): Promise<void> {
    for (let round = 1; round <= maxRounds; round++) {
      let copied = 0;
      for await (const owner of eachAudioOwner(this.#db)) {
        if (this.#backup.has(nameOf(owner))) continue;
        await this.#backup.addFile(nameOf(owner), this.#fileOf(owner));
        copied += 1;
      }
      if (copied <= fewFiles) return;
    }
  }

  /** At the moment of the backup, in which no session changes. */
  async hold(): Promise<void> {
    for await (const owner of eachAudioOwner(this.#db)) {
      const name = nameOf(owner);
      this.#needed.add(name);
      if (this.#backup.has(name)) continue;
      const file = await open(this.#fileOf(owner)).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        this.lost.push(owner.id);
      });
      if (file === undefined) continue;
      this.#held.push({ name, file });
      if (this.#held.length >= maxHeld) await this.#copyHeld();
    }
  }

  /** @returns how many files there are */
  async finish(): Promise<number> {
    await this.#copyHeld();
    const audio = this.#backup.names().filter((name) => name.startsWith('audio/'));
    for (const name of audio) if (!this.#needed.has(name)) await this.#backup.remove(name);
    return this.#needed.size - this.lost.length;
  }

  async #copyHeld(): Promise<void> {
    for (const { name, file } of this.#held.splice(0)) await this.#backup.addStream(name, file.createReadStream());
  }

  #fileOf({ account_id, id }: AudioOwner): string {
    return this.#store.path(account_id, id);
  }
}
