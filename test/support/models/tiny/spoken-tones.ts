/** What the tiny model hears as speech: tones of 0.4 s. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { samplesPerMs, wavHeader } from '../../../../src/audio/samples.ts';

export const hertz = { low: 300, high: 3000 };
export type Tone = keyof typeof hertz;

/**
 * Sine and cosine of each tone, of so many samples: whatever the phase of a sound, the sum of the squares of what it has
 * of both is its power.
 */
export const wavesOfTones = (samples: number): number[][] =>
  [hertz.low, hertz.high].flatMap((tone) =>
    [Math.sin, Math.cos].map((wave) =>
      Array.from({ length: samples }, (_, at) => wave((2 * Math.PI * tone * at) / (1000 * samplesPerMs))),
    ),
  );

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
  const each = seconds * 1000 * samplesPerMs;
  const samples = new Int16Array(tones.length * each);
  for (const [index, tone] of tones.entries()) {
    const begin = index * each + 300 * samplesPerMs;
    const step = (2 * Math.PI * hertz[tone]) / (1000 * samplesPerMs);
    for (let at = 0; at < 400 * samplesPerMs; at += 1) samples[begin + at] = 2_000 * Math.sin(at * step);
  }
  const file = join(folder, `${name}.wav`);
  await writeFile(file, Buffer.concat([wavHeader(samples.byteLength), Buffer.from(samples.buffer)]));
  return { file, text: tones.join(' ') };
}
