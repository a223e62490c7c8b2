/** Recordings and their texts. */
import { readFile, readdir } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';

export interface SpokenClip {
  name: string;
  file: string;
  text: string;
}

const librivox = '/usr/share/pocketsphinx/test/data/librivox';

/**
 * The five clips of human speech (16 kHz mono WAV, LibriVox, 25 s together) of Debian's pocketsphinx-testdata.
 * @throws with what to type when they are not installed
 */
export async function librivoxClips(): Promise<SpokenClip[]> {
  const lines = await readFile(join(librivox, 'transcription'), 'utf8').catch((cause: unknown) => {
    throw new Error(`The clips of ${librivox} are missing. Install them: apt-get install pocketsphinx-testdata`, {
      cause,
    });
  });
  return [...lines.matchAll(/^<s> (.*) <\/s> \((.*)\)$/gm)].map(([, text, name]) => ({
    ...{ name: name!, file: join(librivox, `${name}.wav`), text: text! },
  }));
}

/**
 * Every file in a folder and below it that has a `.txt` of the same name beside it.
 * @param onLeftOut gets the files that have none
 * @throws when there is none
 */
export async function clipsIn(folder: string, onLeftOut: (names: string[]) => void): Promise<SpokenClip[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((cause: unknown) => {
    throw new Error(`The folder ${folder} can not be read.`, { cause });
  });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => resolve(parentPath, name));
  const isReference = (file: string) => extname(file) === '.txt';
  const audio = files.filter((file) => !isReference(file) && !basename(file).startsWith('.')).sort();
  const referenceOf = (file: string) => join(dirname(file), `${basename(file, extname(file))}.txt`);
  const withReference = audio.filter((file) => files.includes(referenceOf(file)));
  const leftOut = audio.filter((file) => !withReference.includes(file));
  if (withReference.length === 0)
    throw new Error(`${folder} holds no recording with a reference: what is said in talk.flac has to be in talk.txt.`);
  if (leftOut.length > 0) onLeftOut(leftOut.map((file) => relative(folder, file)));
  return Promise.all(
    withReference.map(async (file) => ({
      ...{ name: relative(folder, file), file, text: await readFile(referenceOf(file), 'utf8') },
    })),
  );
}
