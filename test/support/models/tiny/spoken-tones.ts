/** What the tiny model hears as speech: tones of 0.4 s. */
import { join } from 'node:path';
import { ffmpeg } from '../../uploads/audio-fixtures.ts';

export const hertz = { low: 300, high: 3000 };
export type Tone = keyof typeof hertz;

/**
 * Writes a WAV file in which tones are heard, the first after 0.3 s.
 * @param seconds from one to the next, at least 0.7
 */
export async function speakTones(
  folder: string,
  name: string,
  tones: readonly Tone[],
  seconds = 1,
): Promise<{ file: string; text: string }> {
  const inputs = tones.flatMap((tone) => ['-f', 'lavfi', '-i', `sine=${hertz[tone]}:r=16000:d=0.4`]);
  const padded = tones
    .map((_, input) => `[${input}]volume=0.5,adelay=300,apad=whole_dur=${seconds}[t${input}];`)
    .join('');
  const labels = tones.map((_, input) => `[t${input}]`).join('');
  const graph = `${padded}${labels}concat=n=${tones.length}:v=0:a=1`;
  const file = await ffmpeg(
    ...inputs,
    '-filter_complex',
    graph,
    '-ar',
    '16000',
    '-ac',
    '1',
    join(folder, `${name}.wav`),
  );
  return { file, text: tones.join(' ') };
}
