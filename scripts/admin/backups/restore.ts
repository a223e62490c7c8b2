/** `restore`: makes a data folder of a backup. */
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterPaths, placeCluster } from '../../../db/embedded/cluster.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { postgresFolder } from '../../../src/process/database-url.ts';
import { adoptStore } from '../../../src/files/known-store.ts';
import { Refusal } from '../../terminal/refusal.ts';
import { verify } from '../verify.ts';
import { ofItsOwn } from './backup.ts';
import { copyBack, readBackup, refuseUnlessEmpty, syncDiskOf } from './backup-folder.ts';
import type { Config } from '../../../src/config/config.ts';
import type { AdminContext } from '../admin-context.ts';
import type { Report } from '../command.ts';

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
    if (await exists(path)) throw new Refusal(`${path} appeared while the backup was copied. Stop the service first.`);
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

const exists = (path: string) => access(path).then(() => true, () => false); // prettier-ignore

/** Tells the database that its audio is here now, and checks what was brought back. */
export async function look(admin: AdminContext): Promise<Report> {
  await adoptStore(admin.db, admin.bareStore);
  await inTransaction(admin.db, (trx) => admin.record(trx, { act: 'restore' }));
  return verify(admin);
}
