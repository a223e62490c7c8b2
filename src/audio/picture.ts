import { AudioError } from './audio-error.ts';
import { isOggOfParts } from './whole.ts';
import { gapsOf } from './timeline.ts';
import { runFfmpeg } from './ffmpeg.ts';
import type { FileHeader } from './ffmpeg-log.ts';
import type { SamplesOptions } from './decode-samples.ts';
import type { Gap, PacketTimes } from './timeline.ts';

type TrackRun = Pick<SamplesOptions, 'input' | 'timeLimitMs' | 'signal' | 'track'>;

/** A shorter delay is not to be seen. */
const shortestMs = 100;

/** Encoders put less than this before the first sound, and a gap behind it. */
const beginningMs = 500;

/**
 * The gaps of a track, as `gapsOf` finds them, and the one before it: sound that begins late is late for the picture or
 * for another track. Where all begin late, nobody has to wait. In Ogg of several parts, one after the other, ffmpeg
 * counts the later ones in units of the first, so nothing of their times is believed.
 */
export async function allGapsOf(
  run: TrackRun,
  header: FileHeader,
  times: PacketTimes,
): Promise<{ gaps: Gap[]; areBelieved: boolean }> {
  if (header.format === 'ogg' && (await isOggOfParts(run.input))) return { gaps: [], areBelieved: false };
  const { gaps, areBelieved } = gapsOf(times);
  if (!header.hasPicture && header.tracks.length < 2) return { gaps, areBelieved };
  const own = run.track ?? 0;
  const starts = await startsOf(run, '0:a and 0:V');
  // Some pictures can't be copied without decoding them. Of these, ffmpeg knows when they begin.
  const isKnown = starts.size === 0;
  const ownStartMs = (isKnown ? await startsOf(run, '0:a') : starts).get(own) ?? header.startMs;
  const isEarly = ({ atMs }: Gap): boolean => atMs < beginningMs;
  const lateMs = gaps.filter(isEarly).reduce((sum, { gapMs }) => sum + gapMs, 0);
  const startMs = ownStartMs + lateMs;
  const firstMs = isKnown ? header.startMs : Math.min(...starts.set(own, startMs).values());
  const lead = { atMs: 0, gapMs: startMs - firstMs };
  return {
    gaps: [lead, ...gaps.filter((gap) => !isEarly(gap))].filter(({ gapMs }) => gapMs >= shortestMs),
    areBelieved,
  };
}

/** When the audio tracks begin, and behind them the picture, in ms. A cover is no picture. */
async function startsOf(
  { input, timeLimitMs, signal }: TrackRun,
  stream: '0:a' | '0:a and 0:V',
): Promise<Map<number, number>> {
  let printed = '';
  await runFfmpeg({
    ...{ input, timeLimitMs, ...(signal && { signal }), stream },
    outputArgs: ['-copyts', '-c', 'copy', '-frames', '1', '-f', 'framecrc', 'pipe:1'],
    onStdout: (chunk) => void (printed += chunk.toString('latin1')),
  }).catch((error: unknown) => {
    if (!(error instanceof AudioError)) throw error;
  });
  const units = [...printed.matchAll(/^#tb \d+: (\d+)\/(\d+)$/gm)].map(
    ([, over, under]) => Number(over) / Number(under),
  );
  const packets = printed.matchAll(/^(\d+), *-?\d+, *(-?\d+),/gm);
  return new Map(
    [...packets].map(([, stream, start]) => [Number(stream), Number(start) * units[Number(stream)]! * 1000]),
  );
}
