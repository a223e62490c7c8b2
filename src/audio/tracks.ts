/** Which of several audio tracks is transcribed, how many channels it has, and whether all of it was decoded. */
import { AudioError, AudioToolError } from './audio-error.ts';
import { decodeSamples, throwUnlessExited } from './decode-samples.ts';
import { lastLine, runFfmpeg, unreadable } from './ffmpeg.ts';
import { createReadStream } from 'node:fs';
import { decodeAudio, toleranceMs } from './decode.ts';
import type { SamplesOptions } from './decode-samples.ts';
import type { Track } from './ffmpeg-log.ts';
import type { FfmpegRun } from './ffmpeg.ts';
import type { DecodeOptions, Decoded } from './decode.ts';

/** Nobody listens to more. */
const mostTracks = 16;
/** -70 dB, as samples of s16le. */
const audible = 10;

/**
 * Tracks with sound before silent ones, then the one that the file calls its default, then the first.
 * @returns its place among the audio streams, from 0
 * @throws what `decodeSamples` throws, but for {@link AudioError}: such a track has no sound
 */
export async function chooseTrack(
  { input, timeLimitMs, signal }: Pick<SamplesOptions, 'input' | 'timeLimitMs' | 'signal'>,
  tracks: readonly Track[],
): Promise<number> {
  const byDefault = [...tracks.slice(0, mostTracks).keys()].toSorted(
    (one, other) => Number(tracks[other]!.isDefault) - Number(tracks[one]!.isDefault),
  );
  for (const track of byDefault)
    if (await hasSound({ input, timeLimitMs, signal, track, maxDurationMs: Infinity })) return track;
  return byDefault[0] ?? 0;
}

class Audible extends Error {}

/** Ends at the first sound. */
async function hasSound(options: SamplesOptions): Promise<boolean> {
  try {
    await decodeSamples(options, async (samples) => {
      for (let at = 0; at < samples.length; at += 2)
        if (Math.abs(samples.readInt16LE(at)) >= audible) throw new Audible();
    });
    return false;
  } catch (error) {
    if (error instanceof Audible) return true;
    if (error instanceof AudioError) return false;
    throw error;
  }
}

/** Where a WAV file says how many channels it has (16 bits, little endian). */
const channelsAt = 22;
const headerBytes = 44;
/** One decoded frame is enough: ffmpeg writes the header with the first one. */
const listenMs = 100;

type Run = Pick<FfmpegRun, 'input' | 'timeLimitMs' | 'signal'>;

/**
 * Counts the channels of the track that is to be transcribed, as they are when it begins.
 * @returns the track's place among the audio streams, too
 * @throws {AudioError} `unsupported_media`, `no_audio_track`, `timed_out`
 * @throws {AudioToolError} as `decodeAudio` does
 * @throws the abort reason of `options.signal`
 */
export async function countChannels(run: Run): Promise<{ track: number; channels: number }> {
  const { channels, tracks } = await channelsOf(run, 0);
  const track = tracks.length < 2 ? 0 : await chooseTrack(run, tracks);
  return { track, channels: track === 0 ? channels : (await channelsOf(run, track)).channels };
}

async function channelsOf(run: Run, track: number): Promise<{ channels: number; tracks: readonly Track[] }> {
  let head = Buffer.alloc(0);
  const end = await runFfmpeg({
    ...run,
    stream: `0:a:${track}`,
    // Without `bitexact`, the name of the program would stand in the header.
    outputArgs: ['-t', `${listenMs}ms`, '-fflags', '+bitexact', '-c:a', 'pcm_s16le', '-f', 'wav', 'pipe:1'],
    onStdout: (chunk) => {
      if (head.length < headerBytes) head = Buffer.concat([head, chunk]).subarray(0, headerBytes);
    },
  });
  throwUnlessExited(end);
  if (head.length < headerBytes)
    throw new AudioError('unsupported_media', `nothing to decode: ${lastLine(end.stderr)}`);
  return { channels: head.readUInt16LE(channelsAt), tracks: end.header.tracks };
}

export interface WholeAudio extends Decoded {
  /** The audio was much shorter than measured both times: the file is damaged. */
  isConfirmedShort: boolean;
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
  const track = await chooseTrack(options, first.tracks);
  return track === 0 ? first : decodeTrack({ ...options, track }, measuredMs);
}

/**
 * Decodes one track as `decodeAudio` does. ffmpeg takes a read error of the disk for the end of the file and exits with 0. So
 * when less was decoded than was measured, the file is read to its end and decoded once more. Damage gives the same
 * length both times.
 */
async function decodeTrack(options: DecodeOptions, measuredMs: number | null): Promise<WholeAudio> {
  const first = await decodeAudio(options);
  const isShort = measuredMs !== null && first.durationMs < measuredMs - toleranceMs(measuredMs);
  if (!isShort) return { ...first, isConfirmedShort: false };
  await readThrough(options.input).catch(unreadable);
  const again = await decodeAudio(options);
  if (again.durationMs === first.durationMs) return { ...again, isConfirmedShort: true };
  throw new AudioToolError(`decoded to ${first.durationMs} ms, and then to ${again.durationMs} ms`);
}

async function readThrough(file: string): Promise<void> {
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) void chunk;
}
