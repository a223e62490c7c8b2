/** The folder `NAME.partial`, in which a model is put together before it gets its own folder. */
import { chmod, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { tryLock } from '../../db/embedded/file-lock.ts';
import { isPacked } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import { readableSize } from '../terminal/text.ts';
import { Refusal } from '../terminal/refusal.ts';
import type { FileLock } from '../../db/embedded/file-lock.ts';
import type { KnownModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';

export interface Target {
  /** Which the model gets when it is complete. */
  folder: string;
  /** `MIN_FREE_DISK`: room that uploads need must not be used for models. */
  minFreeDisk: number;
}

export const partialFolder = (folder: string): string => `${folder}.partial`;

/** What lies beside the program is for whoever runs it; what is below a data folder, for its owner. */
const modesOf = (model: KnownModel) =>
  isPacked(model) ? { folder: 0o755, file: 0o644 } : { folder: 0o700, file: 0o600 };

/**
 * Locks a model, so that nobody else installs or removes it. The lock ends with the process at the latest.
 * @throws {Refusal} when another command has the lock
 */
export async function holdModel<T>(folder: string, model: KnownModel, work: () => Promise<T>): Promise<T> {
  const lock = await takeLock(folder, model).catch((error: Error) => {
    throw new Refusal(`${dirname(folder)} can not be used: ${error.message}`);
  });
  if (lock === undefined)
    throw new Refusal(`Another command installs or removes ${model.name} right now. Let it finish.`);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

async function takeLock(folder: string, model: KnownModel): Promise<FileLock | undefined> {
  const above = dirname(folder);
  await mkdir(dirname(above), { recursive: true, mode: 0o711 });
  const isNew = (await mkdir(above, { recursive: true })) !== undefined;
  if (isNew) await chmod(above, modesOf(model).folder);
  return tryLock(join(above, `.${basename(folder)}.lock`), 'exclusive');
}

/** Makes the folder, or keeps what an interrupted command left in it. */
export async function openStaging(folder: string): Promise<string> {
  const partial = partialFolder(folder);
  await mkdir(partial, { recursive: true, mode: 0o700 });
  return partial;
}

/** Gives a model whose files are all there its own folder, at once. */
export async function publish(folder: string, model: KnownModel): Promise<void> {
  const partial = partialFolder(folder);
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

/** Removes all files but those. */
export async function keepOnly(folder: string, names: ReadonlySet<string>): Promise<void> {
  const left = (await readdir(folder)).filter((name) => !names.has(name));
  await Promise.all(left.map((name) => rm(join(folder, name), { recursive: true })));
}

/**
 * Removes a model. Even when this is interrupted, no incomplete model has the model's name.
 * @returns how many bytes are free again
 */
export async function removeWhole(folder: string): Promise<number> {
  const bytes = await bytesIn(folder);
  const leaving = `${folder}.removed`;
  await rm(leaving, { recursive: true, force: true });
  await rename(folder, leaving).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rm(leaving, { recursive: true, force: true });
  return bytes;
}

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const stats = await Promise.all(names.map((name) => stat(join(folder, name))));
  return stats.reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
}

/** @throws {Refusal} when so many bytes more would leave less than `minFreeDisk` */
export async function refuseFullDisk(bytes: number, { folder, minFreeDisk }: Target): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(folder));
  const free = bavail * bsize;
  if (free - bytes >= minFreeDisk) return;
  throw new Refusal(
    `${readableSize(bytes)} more are needed, and ${readableSize(minFreeDisk)} have to stay free (MIN_FREE_DISK), but the ` +
      `disk of ${dirname(folder)} has ${readableSize(free)} left.\n` +
      'Make room there. If it is the disk of DATA_DIR, you can also set DATA_DIR to a folder on another disk.',
  );
}
