/** Recordings of any length, made of short clips: 16 kHz mono s16le. */
import { open, readFile } from 'node:fs/promises';
import { wavHeader } from '../../src/audio/samples.ts';
import type { SpokenClip } from './spoken-clips.ts';

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
