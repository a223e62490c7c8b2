/** `backup`: the embedded database and its audio as they are at one moment, while the service works. */
import { relative } from 'node:path';
import { clusterPaths } from '../../../db/embedded/cluster.ts';
import { copyCluster } from '../../../db/embedded/base-backup.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { postgresFolder } from '../../../src/process/database-url.ts';
import { AudioStoreAway } from '../../../src/files/audio-store.ts';
import { Refusal } from '../../terminal/refusal.ts';
import { count } from '../../terminal/table.ts';
import { AudioCopy } from './audio-copy.ts';
import { NewBackup } from './backup-folder.ts';
import type { AdminContext } from '../admin-context.ts';
import type { Report } from '../command.ts';
import type { BackupNotes } from './backup-folder.ts';

/** @throws {Refusal} when the database is not the embedded one, something is in the folder, or it lies within `DATA_DIR` */
export async function backUp(admin: AdminContext, folder: string): Promise<Report> {
  if (!admin.isEmbedded) throw new Refusal(ofItsOwn);
  if (!relative(admin.dataDir, folder).startsWith('..'))
    throw new Refusal(`${folder} lies within DATA_DIR, with which it would be lost: choose another disk.`);
  // The recordings of a disk that is not mounted would be missing.
  await admin.audioStore.open().catch((error: unknown) => {
    throw error instanceof AudioStoreAway ? new Refusal(error.message) : error;
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
    file: async (name: string, path: string) => void (await backup.addFile(within(name), path)),
    content: (name: string, content: Buffer) => backup.addContent(within(name), content),
  };
  const ends = { beforeTheEnd: () => audio.catchUp(), atTheEnd: () => audio.hold() };
  await copyCluster(clusterPaths(postgresFolder(admin.dataDir)), admin.databaseUrl, copy, ends);
  const audioFiles = await audio.finish();
  return { notes: await backup.finish(audioFiles), lost: audio.lost };
}
