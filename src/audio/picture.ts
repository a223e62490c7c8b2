import { AudioError } from './audio-error.ts';
import { runFfmpeg } from './ffmpeg.ts';
import type { FileHeader } from './ffmpeg-log.ts';
import type { FfmpegRun } from './ffmpeg.ts';

type Run = Pick<FfmpegRun, 'input' | 'timeLimitMs'> & { signal?: AbortSignal | undefined };

/**
 * When the picture of a recording begins, in ms on the timeline of its sound.
 * @returns undefined when it has no picture
 */
export async function pictureStartMs({ input, timeLimitMs, signal }: Run): Promise<number | undefined> {
  let printed = '';
  await runFfmpeg({
    ...{ input, timeLimitMs, ...(signal && { signal }) },
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

/** A shorter delay is not to be seen. */
const shortestDelayMs = 100;

/**
 * How much later than its picture the sound of a file begins, where ffmpeg lost that: it does not decode pictures here,
 * and in Matroska that is how it learns when some of them begin. So it takes the beginning of the sound for that of the
 * file.
 */
export async function hiddenDelayMs(run: Run, { hasPicture, startMs }: FileHeader): Promise<number> {
  if (!hasPicture || startMs < shortestDelayMs) return 0;
  const pictureMs = (await pictureStartMs(run)) ?? 0;
  return Math.round(Math.max(0, -pictureMs));
}
