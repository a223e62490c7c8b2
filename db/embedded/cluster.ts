import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { findPrograms, runProgram } from './programs.ts';
import type { Programs } from './programs.ts';

/** Name of the superuser and of the database. */
export const roleName = 'transcription';

/** Where a cluster keeps its files; absolute paths. */
export type ClusterPaths = Readonly<ReturnType<typeof clusterPaths>>;

export function clusterPaths(folder: string) {
  const data = path.resolve(folder, 'data');
  return {
    folder: path.resolve(folder),
    data,
    password: path.join(data, 'transcription.password'),
    postmasterPid: path.join(data, 'postmaster.pid'),
    log: path.resolve(folder, 'server.log'),
    startLock: path.resolve(folder, 'start.lock'),
    usersLock: path.resolve(folder, 'users.lock'),
  };
}

/** Makes the folder around the cluster. When root makes it, PostgreSQL's user may pass through it but not list it. */
export function makeFolder({ folder }: ClusterPaths): void {
  if (existsSync(folder)) return;
  // In two steps: a mode given here would apply to every folder that is made on the way.
  mkdirSync(path.dirname(folder), { recursive: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.getuid?.() === 0) chmodSync(folder, 0o711);
}

export const clusterExists = ({ data }: ClusterPaths): boolean => existsSync(data);

export const readPassword = ({ password }: ClusterPaths): string => readFileSync(password, 'utf8').trim();

/**
 * Makes the cluster with a random password. It appears whole, by a rename, or not at all. Only for the holder of the start
 * lock, because it removes what a killed process left of another attempt.
 * @throws when initdb fails, with its output
 */
export async function createCluster(paths: ClusterPaths, { prefix, initdb, owner }: Programs): Promise<void> {
  await removeUnfinished(paths);
  // The name is never used twice, so that a leftover process can't disturb a later attempt.
  const staging = path.join(paths.folder, `new-${randomBytes(8).toString('hex')}`);
  const passwordFile = `${staging}.password`;
  mkdirSync(staging, { mode: 0o700 });
  writeFileSync(passwordFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  if (owner) for (const entry of [staging, passwordFile]) chownSync(entry, owner.uid, owner.gid);
  const { succeeded, output } = await runProgram(
    [
      ...[...prefix, initdb, '--pgdata', staging, '--no-instructions'],
      ...['--username', roleName, '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
      ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
    ],
    staging,
  );
  if (!succeeded) {
    await removeUnfinished(paths);
    throw new Error(`initdb could not make a database in ${paths.folder}:\n${output}`);
  }
  renameSync(passwordFile, path.join(staging, path.basename(paths.password)));
  await syncFolder(staging);
  renameSync(staging, paths.data);
  await syncFolder(paths.folder);
}

async function removeUnfinished({ folder }: ClusterPaths): Promise<void> {
  for (const name of readdirSync(folder).filter((entry) => /^new-[0-9a-f]+(\.password)?$/.test(entry)))
    // An initdb outlives the process that started it and goes on writing for a moment, until it misses its files.
    await rm(path.join(folder, name), { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

/** Makes a rename survive a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r');
  await handle.sync();
}

/**
 * Makes a copied data folder that of a cluster, where there is none. It belongs to the user who is to run PostgreSQL then.
 *
 * @param staged on the same disk; it is moved
 */
export async function placeCluster(paths: ClusterPaths, staged: string): Promise<void> {
  makeFolder(paths);
  const { owner } = await findPrograms(paths);
  chmodSync(staged, 0o700);
  if (owner !== undefined)
    for (const name of ['', ...readdirSync(staged, { recursive: true, encoding: 'utf8' })])
      chownSync(path.join(staged, name), owner.uid, owner.gid);
  renameSync(staged, paths.data);
}
