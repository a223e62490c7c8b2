/** Files with transcripts. They are there whole or not at all, and nothing is overwritten by accident. */
import { createHash } from 'node:crypto';
import { link, lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';

const longestNameBytes = 255;

/** `talk.txt` for `talk.wav`; cut where it would be too long for a file's name. */
export const besideName = (recording: string, extension: string): string =>
  join(dirname(recording), withEnding(basename(recording, extname(recording)), extension));

/** `talk.wav.txt` for `talk.wav`, where `talk.txt` is taken. */
export const fullName = (recording: string, extension: string): string =>
  join(dirname(recording), withEnding(basename(recording), extension));

function withEnding(name: string, ending: string): string {
  let kept = name;
  while (Buffer.byteLength(kept + ending) > longestNameBytes) kept = [...kept].slice(0, -1).join('');
  return kept + ending;
}

export const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/**
 * Writes a file under another name first, and makes folders that are missing.
 * @returns false when a file of that name is there, and `replace` is false
 */
export async function writeResult(path: string, text: string, { replace }: { replace: boolean }): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true });
  const part = partOf(path);
  await writeFile(part, text, { flush: true });
  if (replace) await rename(part, path);
  else {
    const isNew = await linkTo(part, path);
    await rm(part, { force: true });
    return isNew;
  }
  return true;
}

/** The same at every try, so that what a killed command leaves is used up by the next one. */
function partOf(path: string): string {
  const digest = createHash('sha256').update(basename(path)).digest('hex').slice(0, 16);
  return join(dirname(path), `.transcribe-${digest}.part`);
}

/** A link never replaces a file, as renaming would. Where the disk knows no links, a look before has to do. */
async function linkTo(part: string, path: string): Promise<boolean> {
  try {
    await link(part, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || (await isThere(path))) return false;
    await rename(part, path);
    return true;
  }
}
