/** The recordings of a folder. */
import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';

/**
 * What the names of recordings end in. The service reads more, and finds out by the content; here a name decides, because
 * a folder may hold anything. Names that are more often something else are left out, such as `.ts` and `.dv`.
 */
const extensions = new Set(
  [
    ...[
      'aac',
      'ac3',
      'aif',
      'aiff',
      'amr',
      'ape',
      'au',
      'awb',
      'caf',
      'dss',
      'flac',
      'gsm',
      'm4a',
      'm4b',
      'mka',
      'mp2',
    ],
    ...['mp3', 'mpga', 'oga', 'ogg', 'opus', 'qcp', 'spx', 'tta', 'voc', 'w64', 'wav', 'wave', 'weba', 'wma', 'wv'],
    ...['3g2', '3gp', 'asf', 'avi', 'flv', 'm2ts', 'm4v', 'mkv', 'mov', 'mp4', 'mpeg', 'mpg', 'ogv', 'webm', 'wmv'],
  ].map((extension) => `.${extension}`),
);

/** Whether a name is that of a recording. Hidden files are none: while they are copied, many programs hide them. */
export const isAudioName = (name: string): boolean =>
  !name.startsWith('.') && extensions.has(extname(name).toLowerCase());

export interface Unread {
  /** A folder that can't be read, or a symbolic link: what is linked to may be outside, or lead in a circle. */
  path: string;
  why: string;
}

/**
 * The recordings below a folder, by name, as paths within it. Hidden folders and symbolic links are not followed.
 * @throws when the folder itself can't be read
 */
export async function audioFilesIn(folder: string): Promise<{ files: string[]; unread: Unread[] }> {
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
