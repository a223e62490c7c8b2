/** `restore`: makes a data folder of a backup. */
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterPaths } from '../../../db/embedded/cluster.ts';
import { placeCluster } from '../../../db/embedded/place-cluster.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { postgresFolder } from '../../../src/database-url.ts';
import { Refusal } from '../../terminal/refusal.ts';
import { verify } from '../verify.ts';
import { ofItsOwn } from './backup.ts';
import { copyBack, readBackup, refuseUnlessEmpty, syncDiskOf } from './backup-folder.ts';
import type { Config } from '../../../src/config.ts';
import type { AdminContext } from '../admin-context.ts';
import type { Report } from '../command.ts';

/**
 * Copies a backup into the data folder, whose database appears last. Nothing may be in the data folder, and nothing is left
 * there when it fails.
 *
 * @throws {Refusal} when it is no whole backup, or something is in the data folder
 */
export async function bringBack({ databaseUrl, dataDir }: Config, folder: string): Promise<void> {
  if (databaseUrl !== undefined) throw new Refusal(ofItsOwn);
  const { notes, files } = await readBackup(folder);
  await refuseUnlessEmpty(dataDir, 'A backup is restored to an empty DATA_DIR');
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const staging = join(dataDir, 'restoring');
  try {
    for (const name of ['database', 'audio', ...notes.folders])
      await mkdir(join(staging, name), { recursive: true, mode: 0o700 });
    for (const file of files) await copyBack(folder, file, join(staging, file.name));
    await syncDiskOf(staging);
    await rename(join(staging, 'audio'), join(dataDir, 'audio'));
    await placeCluster(clusterPaths(postgresFolder(dataDir)), join(staging, 'database'));
  } catch (error) {
    await rm(join(dataDir, 'audio'), { recursive: true, force: true });
    await rm(postgresFolder(dataDir), { recursive: true, force: true });
    throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Checks what was brought back. */
export async function look(admin: AdminContext): Promise<Report> {
  await inTransaction(admin.db, (trx) => admin.record(trx, { act: 'restore' }));
  return verify(admin);
}
