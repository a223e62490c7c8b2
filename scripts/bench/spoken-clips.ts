/** Recordings and their texts. */
import { readFile, readdir, open } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { wavHeader } from '../../src/audio/samples.ts';

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

const bytesPerMs = 32;
/** The header's length in clips of pocketsphinx-testdata and in files that are written here. */
const wavHeaderBytes = 44;

export interface PlacedClip {
  clip: SpokenClip;
  startMs: number;
}

export interface Recording {
  file: string;
  durationMs: number;
  /** What is said in it. */
  text: string;
  /** Its clips, and where each begins. */
  clips: readonly PlacedClip[];
}

/**
 * Writes a WAV file of a given length. It repeats the clips, beginning with another one each time. When no further clip
 * fits, it ends with silence.
 * @param clips 16 kHz mono WAV files with the plainest header
 * @param pausesMs pauses between two clips, used in turn
 */
export async function makeRecording(
  file: string,
  clips: readonly SpokenClip[],
  durationMs: number,
  pausesMs: readonly number[] = [400, 800, 1200],
): Promise<Recording> {
  const samples = await Promise.all(clips.map(async (clip) => (await readFile(clip.file)).subarray(wavHeaderBytes)));
  const output = await open(file, 'w');
  const texts: string[] = [];
  const placed: PlacedClip[] = [];
  try {
    let left = durationMs * bytesPerMs;
    await output.write(wavHeader(left));
    const write = async (bytes: Buffer) => {
      await output.write(bytes);
      left -= bytes.length;
    };
    for (let index = 0; ; index += 1) {
      const place = (index + Math.floor(index / clips.length)) % clips.length;
      const [clip, sound] = [clips[place]!, samples[place]!];
      if (sound.length > left) break;
      placed.push({ clip, startMs: durationMs - left / bytesPerMs });
      await write(sound);
      texts.push(clip.text);
      await write(Buffer.alloc(Math.min(left, pausesMs[index % pausesMs.length]! * bytesPerMs)));
    }
    await write(Buffer.alloc(left));
  } finally {
    await output.close();
  }
  return { file, durationMs, text: texts.join(' '), clips: placed };
}
