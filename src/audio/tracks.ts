/** Which of several audio tracks is transcribed. */
import { AudioError } from './audio-error.ts';
import { decodeSamples } from './decode-samples.ts';
import type { SamplesOptions } from './decode-samples.ts';
import type { Track } from './ffmpeg-log.ts';

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
