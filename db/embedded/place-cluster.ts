import { chmod, chown, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { findBinaries } from './binaries.ts';
import { makeFolder } from './cluster.ts';
import { findRunAs } from './run-as.ts';
import type { ClusterPaths } from './cluster.ts';

/**
 * Makes a copied data folder that of a cluster, where there is none. It belongs to the user who is to run PostgreSQL then.
 *
 * @param staged on the same disk; it is moved
 */
export async function placeCluster(paths: ClusterPaths, staged: string): Promise<void> {
  makeFolder(paths);
  const { owner } = await findRunAs(paths.folder, paths.data, await findBinaries());
  await chmod(staged, 0o700);
  if (owner !== undefined) {
    for (const name of ['', ...(await readdir(staged, { recursive: true }))])
      await chown(join(staged, name), owner.uid, owner.gid);
  }
  await rename(staged, paths.data);
}
