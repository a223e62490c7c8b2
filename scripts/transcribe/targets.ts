/** Which recordings are meant, and which file each transcript goes to. */
import { realpath, stat, readdir } from 'node:fs/promises';
import { basename, join, extname } from 'node:path';
import { Mistake } from '../terminal/refusal.ts';
import { besideName, fullName } from './results.ts';

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

/**
 * What the names of recordings end in. The service reads more, and finds out by the content; here a name decides, because
 * a folder may hold anything. Names that are more often something else are left out, such as `.ts` and `.dv`.
 */
const extensions = new Set(
  [
    'aac ac3 aif aiff amr ape au awb caf dss flac gsm m4a m4b mka mp2 mp3 mpga oga ogg opus qcp spx tta voc w64 wav wave weba wma wv',
    '3g2 3gp asf avi flv m2ts m4v mkv mov mp4 mpeg mpg ogv webm wmv',
  ].flatMap((names) => names.split(' ').map((name) => `.${name}`)),
);

/** Whether a name is that of a recording. Hidden files are none: while they are copied, many programs hide them. */
const isAudioName = (name: string): boolean => !name.startsWith('.') && extensions.has(extname(name).toLowerCase());

export interface Unread {
  /** A folder that can't be read, or a symbolic link: what is linked to may be outside, or lead in a circle. */
  path: string;
  why: string;
}

/**
 * The recordings below a folder, by name, as paths within it. Hidden folders and symbolic links are not followed.
 * @throws when the folder itself can't be read
 */
async function audioFilesIn(folder: string): Promise<{ files: string[]; unread: Unread[] }> {
  const files: string[] = [];
  const unread: Unread[] = [];

  async function look(within: string): Promise<void> {
    const entries = await readdir(join(folder, within), { withFileTypes: true });
    entries.sort((one, other) => (one.name < other.name ? -1 : 1));
    for (const entry of entries) {
      const path = join(within, entry.name);
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) await look(path).catch((error: Error) => unread.push({ path, why: error.message }));
      else if (entry.isSymbolicLink() && isAudioName(entry.name)) unread.push({ path, why: 'links are not followed' });
      else if (entry.isFile() && isAudioName(entry.name)) files.push(path);
    }
  }

  await look('');
  return { files, unread };
}
