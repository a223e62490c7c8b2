/** Which recordings are meant, and which file each transcript goes to. */
import { realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Mistake } from '../terminal/refusal.ts';
import { audioFilesIn } from './audio-files.ts';
import { besideName, fullName } from './results.ts';
import type { Unread } from './audio-files.ts';

export interface Target {
  /** The recording, an absolute path. */
  file: string;
  /** Its transcript's file, an absolute path. */
  result: string;
}

export interface Meant {
  /** Each with its path below `out`. */
  recordings: { file: string; within: string }[];
  unread: Unread[];
  /** Whether one file was named, and no folder. */
  isOneFile: boolean;
}

/**
 * Looks for what was typed. A recording that was named twice is there once.
 * @throws {Mistake} when something is not there, or neither file nor folder
 */
export async function findRecordings(sources: readonly string[]): Promise<Meant> {
  const recordings = new Map<string, { file: string; within: string }>();
  const unread: Unread[] = [];
  let hasFolder = false;
  for (const source of sources) {
    const status = await stat(source).catch(() => undefined);
    if (status === undefined) throw new Mistake(`There is no file ${source}`);
    if (status.isFile()) recordings.set(await realpath(source), { file: source, within: basename(source) });
    else if (status.isDirectory()) {
      hasFolder = true;
      const found = await audioFilesIn(source);
      unread.push(...found.unread.map(({ path, why }) => ({ path: join(source, path), why })));
      for (const within of found.files) {
        const file = join(source, within);
        const path = await realpath(file);
        if (!recordings.has(path)) recordings.set(path, { file, within });
      }
    } else throw new Mistake(`${source} is not a file`);
  }
  return { recordings: [...recordings.values()], unread, isOneFile: !hasFolder && recordings.size === 1 };
}

/**
 * `talk.txt` for `talk.wav`, in `out` or beside the recording; `talk.wav.txt` where two would get one name, or the name of
 * a recording.
 * @throws {Mistake} when two have one name even so
 */
export function targetsOf({ recordings }: Meant, out: string | undefined, extension: string): Target[] {
  const place = ({ file, within }: Meant['recordings'][number]) => (out === undefined ? file : join(out, within));
  const wanted = recordings.map((recording) => besideName(place(recording), extension));
  const taken = new Set(recordings.map(({ file }) => file));
  const isClear = (result: string) => !taken.has(result) && wanted.indexOf(result) === wanted.lastIndexOf(result);
  const targets = recordings.map((recording, index) => {
    const result = wanted[index]!;
    return { file: recording.file, result: isClear(result) ? result : fullName(place(recording), extension) };
  });
  for (const { file, result } of targets) {
    const other = targets.find((target) => target.result === result && target.file !== file);
    if (other !== undefined)
      throw new Mistake(`The transcripts of ${file} and ${other.file} would both be ${result}: send them apart`);
  }
  return targets;
}
