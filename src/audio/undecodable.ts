/** Audio whose packets can be read and whose samples can't be had. */
import { AudioError } from './audio-error.ts';
import type { Track } from './ffmpeg-log.ts';

/** Nothing that is recorded comes near. With some rates beyond, ffmpeg's resampler runs out of memory. */
const highestRate = 10_000_000;

/**
 * @param isSeparate whether its channels are decoded one by one instead of being mixed
 * @throws {AudioError} `unsupported_media`
 */
export function refuseUndecodable(track: Track | undefined, isSeparate: boolean): void {
  if (track === undefined) return;
  if (track.sampleRate > highestRate) throw new AudioError('unsupported_media', `${track.sampleRate} samples a second`);
  if (track.isUnmixable && !isSeparate) throw new AudioError('unsupported_media', 'channels that can not be mixed');
}
