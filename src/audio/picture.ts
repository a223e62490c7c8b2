import { AudioError } from './audio-error.ts';
import { runFfmpeg } from './ffmpeg.ts';
import type { FileHeader } from './ffmpeg-log.ts';
import type { FfmpegRun } from './ffmpeg.ts';

type Run = Pick<FfmpegRun, 'input' | 'timeLimitMs'> & { signal?: AbortSignal | undefined };
type TrackRun = Run & { track?: number | undefined };

/**
 * When the picture of a recording begins, in ms on the timeline of its sound.
 * @returns undefined when it has no picture
 */
export const pictureStartMs = (run: Run): Promise<number | undefined> => startMsOf(picture, run);

/** A cover is no picture. */
const picture = '0:V:0';

/** A shorter delay is not to be seen. */
const shortestDelayMs = 100;

/** Of these, ffmpeg counts from the beginning of the stream that it was asked for, and not from that of the file. */
const countedByStream = new Set(['mpegts', 'mpeg']);

/**
 * How much later than its picture the sound of a file begins, where ffmpeg lost that. It does not decode pictures here,
 * and in Matroska that is how it learns when some of them begin. So it takes the beginning of the sound for that of the
 * file.
 */
export async function hiddenDelayMs({ track = 0, ...run }: TrackRun, header: FileHeader): Promise<number> {
  const { format, hasPicture, startMs } = header;
  if (!hasPicture) return 0;
  let delayMs = 0;
  if (countedByStream.has(format)) delayMs = ((await startMsOf(`0:a:${track}`, run, ['-copyts'])) ?? startMs) - startMs;
  else if (startMs >= shortestDelayMs) delayMs = -((await pictureStartMs(run)) ?? 0);
  return delayMs < shortestDelayMs ? 0 : Math.round(delayMs);
}

async function startMsOf(
  stream: NonNullable<FfmpegRun['stream']>,
  { input, timeLimitMs, signal }: Run,
  outputArgs: readonly string[] = [],
): Promise<number | undefined> {
  let printed = '';
  await runFfmpeg({
    ...{ input, timeLimitMs, ...(signal && { signal }), stream },
    outputArgs: [...outputArgs, ...['-c', 'copy', '-frames', '1', '-f', 'framecrc', 'pipe:1']],
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
