/** Reads folders while other processes add and remove files. */
import { opendir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stats } from 'node:fs';

export interface WrittenFile {
  name: string;
  /** ms since the epoch, by the clock of the files. */
  writtenAt: number;
}

/** The files in a folder, read when they are needed. Files that are removed meanwhile are left out. */
export async function* filesIn(folder: string): AsyncGenerator<WrittenFile> {
  for await (const name of entriesOf(folder)) {
    const found = await statOf(join(folder, name));
    if (found !== undefined) yield { name, writtenAt: found.mtimeMs };
  }
}

/** The names in a folder, read when they are needed. None where the folder does not exist. */
export async function* entriesOf(folder: string): AsyncGenerator<string> {
  try {
    for await (const { name } of await opendir(folder)) yield name;
  } catch (error) {
    undefinedIfNotFound(error);
  }
}

export const statOf = (path: string): Promise<Stats | undefined> => stat(path, { throwIfNoEntry: false });

export const exists = async (path: string): Promise<boolean> => (await statOf(path)) !== undefined;

/** Bytes free for this process on the disk of a folder. */
export async function freeBytesAt(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Whether an error says that a file is not there. */
export const isNotFound = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** For `catch`. @throws the error, unless it says that a file is not there */
export function undefinedIfNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
