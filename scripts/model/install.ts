/** A model is put together in a folder `NAME.partial`, and gets its own folder when it is complete. */
import { chmod, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { tryLock } from '../../db/embedded/file-lock.ts';
import { isInstalled, isPacked } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import { readableSize } from '../terminal/text.ts';
import { Refusal } from '../terminal/refusal.ts';
import type { KnownModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { Progress } from '../terminal/show-progress.ts';

export interface Installation {
  /** Which the model gets when it is complete. */
  folder: string;
  /** `MIN_FREE_DISK`: room that uploads need must not be used for models. */
  minFreeDisk: number;
  /** Says how the hub and npm are reached. */
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  progress: Progress;
}

/**
 * Puts the files of a model into an empty folder, by the names that they get, and compares their checksums.
 * @param reach hears how many bytes came so far
 */
export type Bring = (folder: string, reach: (bytes: number) => void) => Promise<void>;

/**
 * Installs a model, unless it is installed. Whatever goes wrong, nothing is left of it.
 * @returns whether it was installed now
 * @throws {Refusal}
 * @throws the abort reason of `signal`
 */
export async function install(
  model: KnownModel,
  installation: Installation,
  title: string,
  bring: Bring,
): Promise<boolean> {
  const { folder, signal, progress } = installation;
  // Looked for before the lock, too: what others installed is of use where nothing may be written.
  if (await isInstalled(folder, model)) return false;
  return holdModel(model, installation, async () => {
    if (await isInstalled(folder, model)) return false;
    await refuseFullDisk(model, installation);
    const partial = partialOf(folder);
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { mode: 0o700 });
    const step = progress.begin(title, model.bytes);
    let isWhole = false;
    try {
      await bring(partial, step.reach);
      await publish(partial, folder, model);
      isWhole = true;
    } catch (error) {
      signal.throwIfAborted();
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
        throw new Refusal('The disk is full. Nothing was installed.');
      throw error;
    } finally {
      step.end(isWhole);
      await rm(partial, { recursive: true, force: true });
    }
    return true;
  });
}

/**
 * Removes a model, and what a killed command left of it.
 * @returns how many bytes are free again
 * @throws {Refusal}
 */
export function remove(model: KnownModel, at: Pick<Installation, 'folder' | 'signal' | 'progress'>): Promise<number> {
  return holdModel(model, at, async () => {
    const bytes = (await bytesIn(at.folder)) + (await bytesIn(partialOf(at.folder)));
    await rm(partialOf(at.folder), { recursive: true, force: true });
    await removeWhole(at.folder);
    return bytes;
  });
}

/** @throws {Refusal} a file is not the one that it should be */
export function compareChecksums(name: string, algorithm: string, value: string, expected: string): void {
  if (value === expected) return;
  throw new Refusal(
    `${name} is not the file that it should be: its ${algorithm} is\n  ${value} instead of\n  ${expected}.\n` +
      'It was damaged on its way, or its server has another one. Nothing was installed.',
  );
}

const partialOf = (folder: string): string => `${folder}.partial`;

/** Files beside the program are for every user; those below a data folder, for its owner. */
const modesOf = (model: KnownModel) =>
  isPacked(model) ? { folder: 0o755, file: 0o644 } : { folder: 0o700, file: 0o600 };

const lookAgainMs = 200;

/**
 * Keeps others from installing or removing the model meanwhile; waits for one that does. The lock ends with the process
 * at the latest.
 */
async function holdModel<T>(
  model: KnownModel,
  { folder, signal, progress }: Pick<Installation, 'folder' | 'signal' | 'progress'>,
  work: () => Promise<T>,
): Promise<T> {
  const above = dirname(folder);
  const take = async () => {
    await mkdir(dirname(above), { recursive: true, mode: 0o711 });
    const isNew = (await mkdir(above, { recursive: true })) !== undefined;
    if (isNew) await chmod(above, modesOf(model).folder);
    return tryLock(join(above, `.${basename(folder)}.lock`), 'exclusive');
  };
  const takeOrExplain = () =>
    take().catch((error: Error) => {
      throw new Refusal(`${above} can not be used: ${error.message}`);
    });
  let lock = await takeOrExplain();
  if (lock === undefined) progress.say(`Another command installs or removes ${model.name}: waiting for it.`);
  while (lock === undefined) {
    await pause(lookAgainMs, undefined, { signal });
    lock = await takeOrExplain();
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** Gives a model whose files are all there its own folder, at once. */
async function publish(partial: string, folder: string, model: KnownModel): Promise<void> {
  const modes = modesOf(model);
  for (const { name } of model.files) {
    await using file = await open(join(partial, name), 'r+');
    await file.chmod(modes.file);
    // Flushed, so that the file is complete after a power failure, too.
    await file.sync();
  }
  await chmod(partial, modes.folder);
  await removeWhole(folder);
  await rename(partial, folder);
}

/** Even when this is interrupted, no incomplete model has the model's name. */
async function removeWhole(folder: string): Promise<void> {
  const leaving = `${folder}.removed`;
  await rm(leaving, { recursive: true, force: true });
  await rename(folder, leaving).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rm(leaving, { recursive: true, force: true });
}

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const stats = await Promise.all(names.map((name) => stat(join(folder, name))));
  return stats.reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
}

async function refuseFullDisk(model: KnownModel, { folder, minFreeDisk }: Installation): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(folder));
  const free = bavail * bsize;
  // A package is at most as large as its model; both are there for a moment.
  const bytes = isPacked(model) ? 2 * model.bytes : model.bytes;
  if (free - bytes >= minFreeDisk) return;
  throw new Refusal(
    `${readableSize(bytes)} more are needed, and ${readableSize(minFreeDisk)} have to stay free (MIN_FREE_DISK), but the ` +
      `disk of ${dirname(folder)} has ${readableSize(free)} left.\n` +
      'Make room there. If it is the disk of DATA_DIR, you can also set DATA_DIR to a folder on another disk.',
  );
}
