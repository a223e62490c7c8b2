import { runFfmpeg } from './ffmpeg.ts';
import type { SamplesOptions } from './decode-samples.ts';
import type { FileHeader } from './ffmpeg-log.ts';
import type { Loudness } from './loudness.ts';

/** A mix that is louder than this is not looked at: that costs as much as decoding. */
const quietMixDb = -30;
/** So much quieter than its loudest channel is no mix by chance. */
const canceledDb = 9;

/**
 * Channels that are the same but for their sign cancel each other in a mix, as when a plug is wired wrongly.
 * @param mix of all channels of this track
 * @returns the loudest channel, from 1, where the mix is far below it
 */
export async function louderChannel(
  { input, track = 0, timeLimitMs, signal }: SamplesOptions,
  header: FileHeader,
  mix: Loudness,
): Promise<number | undefined> {
  if (header.tracks[track]?.isMono !== false || mix.levelDb > quietMixDb) return undefined;
  const levels = new Map<number, number>();
  let channel = 0;
  await runFfmpeg({
    ...{ input, timeLimitMs, stream: `0:a:${track}`, ...(signal && { signal }) },
    outputArgs: ['-af', 'astats=measure_perchannel=RMS_level:measure_overall=none', '-f', 'null', '-'],
    onInfo(message) {
      channel = Number(/^Channel: (\d+)$/.exec(message)?.[1] ?? channel);
      const level = /^RMS level dB: (-?\d+\.\d+)$/.exec(message)?.[1];
      // Where the number of channels changes inside the file, it is said of each part.
      if (level !== undefined) levels.set(channel, Math.max(Number(level), levels.get(channel) ?? -Infinity));
    },
  });
  const [loudest] = [...levels].toSorted(([, one], [, other]) => other - one);
  // A mix of n channels of which one alone is heard has the n-th part of its height.
  const dilutedDb = 20 * Math.log10(levels.size);
  return loudest !== undefined && loudest[1] - dilutedDb - canceledDb > mix.meanDb ? loudest[0] : undefined;
}
