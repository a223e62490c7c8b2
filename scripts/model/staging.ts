/** The folder `NAME.partial`, in which a model is put together before it gets its own folder. */
import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { tryLock } from '../../db/embedded/file-lock.ts';
import { modelFolder, modelsFolder } from '../../src/recognizers/sherpa-onnx/installed-models.ts';
import { readableSize } from '../terminal/readable.ts';
import { Refusal } from '../terminal/refusal.ts';
import type { FileLock } from '../../db/embedded/file-lock.ts';
import type { KnownModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';

export interface Target {
  dataDir: string;
  /** `MIN_FREE_DISK`: room that uploads need must not be used for models. */
  minFreeDisk: number;
}

export const partialFolder = (dataDir: string, name: string): string => `${modelFolder(dataDir, name)}.partial`;

/**
 * Locks a model, so that nobody else installs or removes it. The lock ends with the process at the latest.
 * @throws {Refusal} when another command has the lock
 */
export async function holdModel<T>(dataDir: string, name: string, work: () => Promise<T>): Promise<T> {
  const lock = await takeLock(dataDir, name).catch((error: Error) => {
    throw new Refusal(`${modelsFolder(dataDir)} can not be used: ${error.message}`);
  });
  if (lock === undefined) throw new Refusal(`Another command installs or removes ${name} right now. Let it finish.`);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

async function takeLock(dataDir: string, name: string): Promise<FileLock | undefined> {
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  await mkdir(modelsFolder(dataDir), { recursive: true, mode: 0o700 });
  return tryLock(join(modelsFolder(dataDir), `.${name}.lock`), 'exclusive');
}

/** Makes the folder with its own folders, or keeps what an interrupted command left in it. */
export async function openStaging(dataDir: string, { name, files }: KnownModel): Promise<string> {
  const folder = partialFolder(dataDir, name);
  const folders = new Set(files.map((file) => dirname(join(folder, file.name))));
  await Promise.all([folder, ...folders].map((path) => mkdir(path, { recursive: true, mode: 0o700 })));
  return folder;
}

/** Gives a model whose files are all there its own folder, at once. */
export async function publish(dataDir: string, model: KnownModel): Promise<void> {
  const folder = partialFolder(dataDir, model.name);
  for (const { name } of model.files) {
    await using file = await open(join(folder, name), 'r+');
    await file.chmod(0o600);
    // Flushed, so that the file is complete after a power failure, too.
    await file.sync();
  }
  await removeWhole(modelFolder(dataDir, model.name));
  await rename(folder, modelFolder(dataDir, model.name));
}

/** Removes all files but those. @param names within the folder, such as `tokens.txt` and `tokenizer/vocab.json` */
export async function keepOnly(folder: string, names: ReadonlySet<string>): Promise<void> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  const left = files.filter((file) => !names.has(relative(folder, file)));
  await Promise.all(left.map((file) => rm(file)));
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
export async function refuseFullDisk(bytes: number, { dataDir, minFreeDisk }: Target): Promise<void> {
  const { bavail, bsize } = await statfs(modelsFolder(dataDir));
  const free = bavail * bsize;
  if (free - bytes >= minFreeDisk) return;
  throw new Refusal(
    `${readableSize(bytes)} more are needed, and ${readableSize(minFreeDisk)} have to stay free (MIN_FREE_DISK), but the ` +
      `disk of ${dataDir} has ${readableSize(free)} left.\nMake room there, or set DATA_DIR to a folder on another disk.`,
  );
}
