/** Which of several audio tracks is transcribed, and how many channels it has. */
import { AudioError } from './audio-error.ts';
import { throwUnlessExited } from './decode-samples.ts';
import { lastLine, runFfmpeg } from './ffmpeg.ts';
import { loudnessOf } from './loudness.ts';
import type { Loudness } from './loudness.ts';
import type { SamplesOptions } from './decode-samples.ts';
import type { Track } from './ffmpeg-log.ts';
import type { FfmpegRun } from './ffmpeg.ts';

/** Nobody listens to more. */
const mostTracks = 16;
const audibleDb = -80;

/**
 * Tracks with sound before silent ones, then the one that the file calls its default, then the first.
 * @param others those that were heard already
 * @returns its place among the audio streams, from 0; undefined where no other one has sound
 * @throws what `decodeSamples` throws, but for {@link AudioError}: such a track has no sound
 */
export async function chooseTrack(
  { input, timeLimitMs, signal }: Pick<SamplesOptions, 'input' | 'timeLimitMs' | 'signal'>,
  tracks: readonly Track[],
  others: readonly number[] = [],
): Promise<number | undefined> {
  const byDefault = [...tracks.slice(0, mostTracks).keys()]
    .filter((track) => !others.includes(track))
    .toSorted((one, other) => Number(tracks[other]!.isDefault) - Number(tracks[one]!.isDefault));
  for (const track of byDefault) {
    const listening = loudnessOf({ input, timeLimitMs, signal, track, maxDurationMs: Infinity });
    const isAudible = ({ levelDb }: Loudness): boolean => levelDb > audibleDb;
    if (await listening.then(isAudible, isNoSound)) return track;
  }
  return others.length > 0 ? undefined : byDefault[0];
}

/** A track that can't be decoded is not heard. */
function isNoSound(error: unknown): false {
  if (error instanceof AudioError) return false;
  throw error;
}

/** A recording of which each channel is recognized for itself has no more. */
export const mostChannels = 8;

/**
 * Counts the channels of the track that is to be transcribed, as they are when it begins.
 * @returns the track's place among the audio streams, too
 * @throws {AudioError} `unsupported_media`, `no_audio_track`, `timed_out`
 * @throws {AudioToolError} as `decodeAudio` does
 * @throws the abort reason of `options.signal`
 */
export async function countChannels(
  run: Pick<FfmpegRun, 'input' | 'timeLimitMs' | 'signal'>,
): Promise<{ track: number; channels: number }> {
  const end = await runFfmpeg({ ...run, outputArgs: ['-c', 'copy', '-frames', '1', '-f', 'null', '-'] });
  throwUnlessExited(end);
  const { tracks } = end.header;
  if (tracks.length === 0) throw new AudioError('unsupported_media', `nothing to decode: ${lastLine(end.stderr)}`);
  const track = tracks.length < 2 ? 0 : ((await chooseTrack(run, tracks)) ?? 0);
  return { track, channels: tracks[track]!.channels };
}
