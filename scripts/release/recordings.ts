/** Small recordings: LibriVox's voices, which belong to nobody, from Debian's pocketsphinx-testdata. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { librivoxClips } from '../bench/spoken-clips.ts';

export interface Recordings {
  /** Some seconds of speech. */
  spoken: string;
  /** Nothing is said in it. */
  silent: string;
  /** Speech that takes long enough to be interrupted. */
  long: string;
}

export async function makeRecordings(folder: string): Promise<Recordings> {
  const clips = (await librivoxClips()).map(({ file }) => file);
  const opus = ['-c:a', 'libopus', '-b:a', '16k'];
  const to = (name: string) => join(folder, name);
  await ffmpeg('-i', clips[0]!, ...opus, to('spoken.opus'));
  await ffmpeg('-f', 'lavfi', '-i', 'anullsrc=r=16000:cl=mono', '-t', '2', ...opus, to('silent.opus'));
  const all = clips.flatMap((file) => ['-i', file]);
  await ffmpeg(...all, '-filter_complex', `concat=n=${clips.length}:v=0:a=1`, ...opus, to('long.opus'));
  return { spoken: to('spoken.opus'), silent: to('silent.opus'), long: to('long.opus') };
}

async function ffmpeg(...args: string[]): Promise<void> {
  await promisify(execFile)('ffmpeg', ['-hide_banner', '-loglevel', 'error', ...args]);
}
