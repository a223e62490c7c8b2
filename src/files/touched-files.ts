/** Reads folders while other processes add and remove files. */
import { opendir, stat } from 'node:fs/promises';
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
    const times = await timesOf(join(folder, name));
    if (times !== undefined) yield { name, writtenAt: times.mtimeMs };
  }
}

/** The names in a folder, read when they are needed. None where the folder does not exist. */
export async function* entriesOf(folder: string): AsyncGenerator<string> {
  try {
    for await (const { name } of await opendir(folder)) yield name;
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** When a file was last written or renamed, in ms since the epoch; undefined when it is gone. */
export async function lastTouched(path: string): Promise<number | undefined> {
  const times = await timesOf(path);
  return times && Math.max(times.mtimeMs, times.ctimeMs);
}

/** Undefined when it is gone. */
export async function timesOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** Whether an error says that a file is not there. */
export function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}
