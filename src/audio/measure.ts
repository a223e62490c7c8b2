import { AudioError, audioTooLong } from './audio-error.ts';
import { decodeSamples } from './decode-samples.ts';
import { measureByDemuxing } from './demux.ts';
import { hasFalseTimes } from './false-times.ts';
import { unreadable } from './ffmpeg.ts';
import { readPlainWav } from './plain-wav.ts';
import type { MeasureOptions } from './demux.ts';

/**
 * The length of the audio stream that `decodeAudio` decodes: the end of its last packet, in ms. The whole file is
 * demuxed without decoding, because headers may be wrong or missing. Only the header of a plain WAV file is trusted:
 * the file is decoded as its header says. Where the times of packets are false, the file is decoded.
 * @returns undefined when measuring took too long or ffmpeg was killed by a limit
 * @throws {AudioError} `unsupported_media`, `no_audio_track`, and `audio_too_long` as soon as it is longer than
 *   `options.maxDurationMs`
 * @throws {AudioToolError} ffmpeg could not run, or the file can't be read
 * @throws the abort reason of `options.signal`
 */
export async function measureAudio(file: string, options: MeasureOptions): Promise<{ durationMs?: number }> {
  options.signal?.throwIfAborted();
  const wav = await readPlainWav(file).catch(unreadable);
  if (wav === undefined)
    return (await hasFalseTimes(file).catch(unreadable))
      ? measureByDecoding(file, options)
      : measureByDemuxing(file, options);
  const { maxDurationMs = Infinity } = options;
  if (wav.durationMs > maxDurationMs) throw audioTooLong(maxDurationMs);
  return { durationMs: wav.durationMs };
}

async function measureByDecoding(file: string, options: MeasureOptions): Promise<{ durationMs?: number }> {
  try {
    return await decodeSamples({ input: file, maxDurationMs: Infinity, ...options }, async () => {});
  } catch (error) {
    if (error instanceof AudioError && error.code === 'timed_out') return {};
    throw error;
  }
}
