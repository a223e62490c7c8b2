/** Files of a folder that other processes add to and remove from meanwhile. */
import { opendir, stat } from 'node:fs/promises';

export interface TouchedFile {
  name: string;
  /** ms since the epoch, by the clock of the files. */
  touchedAt: number;
}

/** The names in a folder, read as they are needed; none where the folder is gone, or was never made. */
export async function* entriesOf(folder: string): AsyncGenerator<string> {
  try {
    for await (const { name } of await opendir(folder)) yield name;
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** When a file was last written or renamed, in ms since the epoch; undefined when it is gone. */
export async function lastTouched(path: string): Promise<number | undefined> {
  try {
    const { mtimeMs, ctimeMs } = await stat(path);
    return Math.max(mtimeMs, ctimeMs);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}
