import { audioTooLong } from './audio-error.ts';
import { measureByDemuxing } from './demux.ts';
import { unreadable } from './ffmpeg.ts';
import { readPlainWav } from './plain-wav.ts';
import type { MeasureOptions } from './demux.ts';

/**
 * The end, in ms, of the last packet of the audio stream that `decodeAudio` decodes, found by demuxing the whole file
 * without decoding it: headers lie or are missing. Only those of a plain WAV file can't, since it
 * is decoded as they say. Undefined when demuxing took too long or ffmpeg was killed by a limit.
 * @throws {AudioError} `unsupported_media`, `no_audio_track`, `audio_too_long` as soon as it passes `options.maxDurationMs`
 * @throws {AudioToolError} ffmpeg could not run, or the file can't be read
 * @throws the abort reason of `options.signal`
 */
export async function measureAudio(file: string, options: MeasureOptions): Promise<{ durationMs?: number }> {
  options.signal?.throwIfAborted();
  const wav = await readPlainWav(file).catch(unreadable);
  if (wav === undefined) return measureByDemuxing(file, options);
  const { maxDurationMs = Infinity } = options;
  if (wav.durationMs > maxDurationMs) throw audioTooLong(maxDurationMs);
  return { durationMs: wav.durationMs };
}
