/** What clients upload: one to three seconds of human speech, silence, damaged audio, and what is no audio. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ffmpeg, silence, speechClips } from '../support/uploads/audio-fixtures.ts';

export interface Clip {
  bytes: Buffer;
  /** How long it really is, whatever the service says. */
  durationMs: number;
  /** How it ends: with words and a charge, without words and free, as a failed session, or refused. */
  ending: 'words' | 'silence' | 'failure' | 'refusal';
}

export interface Clips {
  speech: Clip[];
  others: Clip[];
}

/** Not two of them the same. */
const seconds = [2.4, 1.4, 1.8, 1.2, 2.1];

/** @param folder where they are made */
export async function makeClips(folder: string): Promise<Clips> {
  await mkdir(folder, { recursive: true });
  const speech: Clip[] = [];
  for (const [index, { file }] of (await speechClips()).entries()) {
    const length = String(seconds[index]);
    const clip = await ffmpeg('-i', file, '-t', length, join(folder, `speech-${length}.wav`));
    speech.push({ bytes: await readFile(clip), durationMs: seconds[index]! * 1000, ending: 'words' });
  }
  const quiet = await readFile(await ffmpeg(...silence(1), join(folder, 'silence.wav')));
  const flac = await readFile(
    await ffmpeg(...silence(1), '-c:a', 'flac', '-strict', '-2', join(folder, 'silence.mp4')),
  );
  return {
    speech,
    others: [
      { bytes: quiet, durationMs: 1000, ending: 'silence' },
      { bytes: undecodable(flac), durationMs: 1000, ending: 'failure' },
      {
        bytes: Buffer.from('Notes of a meeting, saved with the wrong name.\n'.repeat(40)),
        durationMs: 0,
        ending: 'refusal',
      },
    ],
  };
}

/**
 * Only what must end `completed`: WAV, which is measured without ffmpeg, and FLAC, which needs more room decoded than sent.
 * @param folder where FLAC is made
 */
export async function onlyGood({ speech, others }: Clips, folder: string): Promise<Clips> {
  const compressed = speech.map(async ({ bytes, durationMs, ending }): Promise<Clip> => {
    const wav = join(folder, `${durationMs}.wav`);
    await writeFile(wav, bytes);
    return { bytes: await readFile(await ffmpeg('-i', wav, join(folder, `${durationMs}.flac`))), durationMs, ending };
  });
  return {
    speech: [...speech, ...(await Promise.all(compressed))],
    others: others.filter(({ ending }) => ending === 'silence'),
  };
}

/** FLAC in MP4, which says how long it is, whose frames no decoder knows as such. */
const undecodable = (mp4: Buffer): Buffer =>
  Buffer.from(mp4.toString('latin1').replaceAll('\xff\xf8', '\0\0'), 'latin1');
