import { stat } from 'node:fs/promises';
import { AudioError, AudioToolError, audioTooLong } from './audio-error.ts';
import { lastLine, runFfmpeg, unreadable } from './ffmpeg.ts';
import { hiddenDelayMs } from './picture.ts';
import { endsOnTimeline } from './timeline.ts';
import { refuseUndecodable, decodeSamples } from './decode-samples.ts';
import { hasFalseTimes } from './false-times.ts';
import { readPlainWav } from './plain-wav.ts';
import type { FfmpegEnd } from './ffmpeg.ts';

export interface MeasureOptions {
  timeLimitMs: number;
  /** Measuring ends as soon as the audio turns out longer than this. */
  maxDurationMs?: number;
  /** Whether its channels will be transcribed one by one; otherwise they will be mixed. */
  isSeparate?: boolean;
  signal?: AbortSignal;
}

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

/** Of a larger file, only the packets near its end are printed. */
const largeBytes = 8 * 1024 * 1024;

/** Long enough for the header and for one line of ffmpeg's framecrc format. */
const keptBytes = 4096;

/** Measures any file that ffmpeg reads, as `measureAudio` promises. It reads nothing beyond the longest duration. */
export async function measureByDemuxing(file: string, options: MeasureOptions): Promise<{ durationMs?: number }> {
  const printed = await printToItsEnd(file, options);
  const { durationMs } = printedDuration(printed);
  if (durationMs === undefined) return {};
  const [track, ...more] = printed.end.header.tracks;
  // Which of several tracks will be decoded is not known yet.
  if (more.length === 0) refuseUndecodable(track, options.isSeparate === true);
  return { durationMs: durationMs + (await hiddenDelayMs({ input: file, ...options }, printed.end.header)) };
}

async function printToItsEnd(file: string, options: MeasureOptions): Promise<Printed> {
  const { size } = await stat(file).catch(unreadable);
  if (size < largeBytes) return printPackets(file, options);

  const began = performance.now();
  const last = await printPackets(file, options, Math.floor(size * 0.9));
  if (last.end.how !== 'exited' || endOfLastPacket(last) !== undefined) return last;
  // Nothing was printed: there is a long index or pictures behind the audio, or the file can't be read. This pass finds
  // out.
  const timeLimitMs = Math.max(1, options.timeLimitMs - (performance.now() - began));
  return printPackets(file, { ...options, timeLimitMs });
}

interface Printed {
  end: FfmpegEnd;
  head: string;
  tail: string;
}

/**
 * Has ffmpeg print a line per packet; its timestamp is moved to the packet's end. Only the last line counts, because
 * parsing half a million lines would block the event loop. `-progress` is no alternative: it is wrong by the last
 * packet or more.
 * @param fromByte nothing is printed before the first packet behind this position. For 50 MB of MP3, ffmpeg then takes
 *   0.8 of the time, and this process reads a tenth of 120,000 lines
 */
async function printPackets(file: string, options: MeasureOptions, fromByte = 0): Promise<Printed> {
  let head = '';
  let tail = '';
  const { maxDurationMs = Infinity, ...limits } = options;
  // A demuxer that does not know a packet's position says -1. Register 0 says whether printing has begun. A packet
  // beyond the longest duration is printed wherever it is, so that this pass can end.
  const isTooLong = maxDurationMs === Infinity ? '' : `+gt(pts*tb,${maxDurationMs / 1000})`;
  const skip = `,noise=drop='if(gte(pos,${fromByte})${isTooLong},st(0,1)*0,not(ld(0)))'`;
  const end = await runFfmpeg({
    input: file,
    outputArgs: [
      ...['-c', 'copy', '-bsf:a', endsOnTimeline + (fromByte > 0 ? skip : '')],
      // If each packet were flushed, an MP3 of 4 h would cost this process half a million reads.
      ...['-flush_packets', '0', '-f', 'framecrc', 'pipe:1'],
    ],
    ...limits,
    onStdout: (chunk) => {
      if (head.length < keptBytes) head += chunk.toString('latin1').slice(0, keptBytes);
      const last = chunk.subarray(-keptBytes).toString('latin1');
      tail = (tail + last).slice(-keptBytes);
      // The end on the timeline never goes back, so it can be compared at once.
      if ((endOfLastPacket({ head, tail }) ?? 0) > maxDurationMs) throw audioTooLong(maxDurationMs);
    },
  });
  return { end, head, tail };
}

/** @throws {AudioError} @throws {AudioToolError} */
function printedDuration(printed: Printed): { durationMs?: number } {
  const { end, head } = printed;
  if (end.how !== 'exited') return {};
  if (end.code !== 0 && /Cannot allocate memory/.test(end.stderr)) return {};
  const durationMs = endOfLastPacket(printed);
  if (durationMs !== undefined) return { durationMs };
  if (end.code === 0 && !head.startsWith('#')) throw new AudioToolError('ffmpeg printed no measurement');
  throw new AudioError('unsupported_media', `ffmpeg could not read the file: ${lastLine(end.stderr)}`);
}

/** Lines are `stream, dts, pts, duration, size, crc` in units of the header `#tb 0: 1/44100`. */
function endOfLastPacket({ head, tail }: Pick<Printed, 'head' | 'tail'>): number | undefined {
  const timeBase = /^#tb 0: (\d+)\/(\d+)$/m.exec(head);
  const lastPacket = [...tail.matchAll(/^0, *-?\d+, *(-?\d+),.*\n/gm)].at(-1);
  if (!timeBase || !lastPacket) return undefined;
  const durationMs = Math.round((Number(lastPacket[1]) * Number(timeBase[1]) * 1000) / Number(timeBase[2]));
  return Math.max(0, durationMs);
}
