/** How far an interrupted `verify` had come, in a file that the operator names. */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { Mistake } from '../terminal/mistake.ts';
import type { Looking, Progress } from '../../db/audit/audit.ts';

export interface Resumed extends Pick<Looking, 'begun' | 'keep'> {
  /** Nothing is left to go on with. */
  end(): Promise<void>;
}

/**
 * @param database which one is looked at: what was found in another one counts for nothing
 * @param everything whether all transcripts are judged, also those of an earlier look
 */
export async function resume(file: string, database: string, everything = false): Promise<Resumed> {
  const kept = await read(file);
  if (kept !== undefined && kept.database !== database) throw new Mistake(`${file} is of another database.`);
  if (kept !== undefined && kept.everything !== everything) {
    const how = kept.everything ? 'with' : 'without';
    throw new Mistake(`${file} was begun ${how} --everything: type it the same way, or remove the file.`);
  }
  return {
    begun: kept?.progress,
    async keep(progress) {
      await writeFile(`${file}.new`, JSON.stringify({ database, everything, progress } satisfies Kept));
      await rename(`${file}.new`, file);
    },
    end: () => rm(file, { force: true }),
  };
}

interface Kept {
  database: string;
  everything: boolean;
  progress: Progress;
}

async function read(file: string): Promise<Kept | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Mistake(`${file} can't be read (${error.code}).`);
  });
  if (text === undefined) return undefined;
  try {
    const kept = JSON.parse(text) as Partial<Kept>;
    const isWhole = typeof kept.everything === 'boolean' && Array.isArray(kept.progress?.checks);
    if (typeof kept.database === 'string' && isWhole) return kept as Kept;
  } catch {
    // Said below.
  }
  throw new Mistake(`${file} was not written by verify.`);
}
