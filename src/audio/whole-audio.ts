/**
 * Decodes, and makes sure that all audio was decoded: audio that is much shorter than measured is either damaged or
 * lost by our fault.
 */
import { createReadStream } from 'node:fs';
import { AudioToolError } from './audio-error.ts';
import { decodeAudio } from './decode.ts';
import { unreadable } from './ffmpeg.ts';
import { toleranceMs } from './tolerance.ts';
import { chooseTrack } from './tracks.ts';
import type { DecodeOptions, Decoded } from './decode.ts';

export interface WholeAudio extends Decoded {
  /** The audio was much shorter than measured both times: the file is damaged. */
  isConfirmedShort: boolean;
}

/**
 * Decodes the track that is to be transcribed, as `decodeAudio` does.
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
