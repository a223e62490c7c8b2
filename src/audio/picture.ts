import { AudioError } from './audio-error.ts';
import { runFfmpeg } from './ffmpeg.ts';
import type { FfmpegRun } from './ffmpeg.ts';

/**
 * When the picture of a recording begins, in ms on the timeline of its sound.
 * @returns undefined when it has no picture
 */
export async function pictureStartMs(
  options: Pick<FfmpegRun, 'input' | 'timeLimitMs' | 'signal'>,
): Promise<number | undefined> {
  let printed = '';
  await runFfmpeg({
    ...options,
    // A cover is no picture.
    stream: '0:V:0',
    outputArgs: ['-c', 'copy', '-frames:v', '1', '-f', 'framecrc', 'pipe:1'],
    onStdout: (chunk) => {
      if (printed.length < 4096) printed += chunk.toString('latin1');
    },
  }).catch((error: unknown) => {
    if (!(error instanceof AudioError)) throw error;
  });
  const timeBase = /^#tb 0: (\d+)\/(\d+)$/m.exec(printed);
  const packet = /^0, *-?\d+, *(-?\d+),/m.exec(printed);
  return timeBase && packet ? (Number(packet[1]) * Number(timeBase[1]) * 1000) / Number(timeBase[2]) : undefined;
}
