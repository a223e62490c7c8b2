/** Which of several audio tracks is transcribed, how many channels it has, and whether all of it was decoded. */
import { AudioError, AudioToolError } from './audio-error.ts';
import { throwUnlessExited } from './decode-samples.ts';
import { lastLine, runFfmpeg, unreadable } from './ffmpeg.ts';
import { createReadStream } from 'node:fs';
import { decodeAudio, loudnessOf } from './decode.ts';
import { toleranceMs } from './whole.ts';
import type { Loudness } from './loudness.ts';
import type { SamplesOptions } from './decode-samples.ts';
import type { Track } from './ffmpeg-log.ts';
import type { FfmpegRun } from './ffmpeg.ts';
import type { DecodeOptions, Decoded } from './decode.ts';

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

export interface WholeAudio extends Decoded {
  /** The audio was much shorter than measured both times: the file is damaged. */
  isConfirmedShort: boolean;
  /** Its place among the audio streams, from 0. */
  track: number;
}

/**
 * Decodes the track that is to be transcribed, as `decodeAudio` does, and makes sure that all of it was decoded: audio that
 * is much shorter than measured is either damaged or lost by our fault.
 * @param measuredMs of the first track; null where it is not known
 * @throws {AudioToolError} also when the file can't be read to its end, or is decoded to two lengths
 */
export async function decodeWhole(options: DecodeOptions, measuredMs: number | null): Promise<WholeAudio> {
  const first = await decodeTrack(options, measuredMs);
  if (options.track !== undefined || first.tracks.length < 2) return first;
  const track = (await chooseTrack(options, first.tracks)) ?? 0;
  return track === 0 ? first : decodeTrack({ ...options, track }, measuredMs);
}

/**
 * Decodes one track as `decodeAudio` does. ffmpeg takes a read error of the disk for the end of the file and exits with 0. So
 * when less was decoded than was measured, the file is read to its end and decoded once more. Damage gives the same
 * length both times.
 */
async function decodeTrack(options: DecodeOptions, measuredMs: number | null): Promise<WholeAudio> {
  const first = { ...(await decodeAudio(options)), track: options.track ?? 0 };
  const isShort = measuredMs !== null && first.durationMs < measuredMs - toleranceMs(measuredMs);
  if (!isShort) return { ...first, isConfirmedShort: false };
  await readThrough(options.input).catch(unreadable);
  const again = await decodeAudio(options);
  if (again.durationMs === first.durationMs) return { ...first, isConfirmedShort: true };
  throw new AudioToolError(`decoded to ${first.durationMs} ms, and then to ${again.durationMs} ms`);
}

async function readThrough(file: string): Promise<void> {
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) void chunk;
}
