import { AudioError, audioTooLong } from './audio-error.ts';
import { lastLine, runFfmpeg, unreadable } from './ffmpeg.ts';
import { allGapsOf } from './picture.ts';
import { packetTimes } from './timed-packets.ts';
import { PacketTimes, longestMs } from './timeline.ts';
import { decodeSamples, mixingAlike, refuseUndecodable } from './decode-samples.ts';
import { readWav } from './plain-wav.ts';
import type { Gap } from './timeline.ts';

export interface MeasureOptions {
  timeLimitMs: number;
  /** Measuring ends as soon as the audio turns out longer than this. */
  maxDurationMs?: number;
  signal?: AbortSignal;
}

/**
 * The length of the audio stream that `decodeAudio` decodes, in ms. The whole file is demuxed without decoding, because
 * headers may be wrong or missing. Only the header of a plain WAV file is trusted: the file is decoded as its header
 * says. Where packets don't say how long they are, or their times can't be believed, the file is decoded.
 * @returns undefined when measuring took too long or ffmpeg was killed by a limit
 * @throws {AudioError} `unsupported_media`, `no_audio_track`, `too_many_channels`, and `audio_too_long` as soon as it is longer than
 *   `options.maxDurationMs`
 * @throws {AudioToolError} ffmpeg could not run, or the file can't be read
 * @throws the abort reason of `options.signal`
 */
export async function measureAudio(file: string, options: MeasureOptions): Promise<number | undefined> {
  options.signal?.throwIfAborted();
  const { maxDurationMs = Infinity } = options;
  const wav = await readWav(file).catch(unreadable);
  const durationMs = wav?.durationMs ?? (await measureByDemuxing(file, options).catch(decodeInstead));
  if (durationMs !== undefined && durationMs > maxDurationMs) throw audioTooLong(maxDurationMs);
  return durationMs;

  function decodeInstead(error: unknown): Promise<number | undefined> {
    if (error instanceof NotTold) return measureByDecoding(file, options);
    throw error;
  }
}

async function measureByDecoding(input: string, options: MeasureOptions): Promise<number | undefined> {
  const run = { input, maxDurationMs: Infinity, ...options };
  try {
    const { header, times } = await mixingAlike(run, (all) => decodeSamples(all, () => {}));
    return lengthWith((await allGapsOf(run, header, times)).gaps, times);
  } catch (error) {
    if (error instanceof AudioError && error.code === 'timed_out') return undefined;
    throw error;
  }
}

const lengthWith = (gaps: readonly Gap[], { lengthMs }: PacketTimes): number =>
  Math.round(gaps.reduce((sum, { gapMs }) => sum + gapMs, lengthMs));

/** The packets of a file don't say how long it is. */
class NotTold extends Error {}

/**
 * Measures any file that ffmpeg reads by the times and lengths of its packets, as `measureAudio` promises.
 * @throws {NotTold}
 */
export async function measureByDemuxing(input: string, options: MeasureOptions): Promise<number | undefined> {
  const { maxDurationMs = Infinity, ...limits } = options;
  const run = { input, ...limits };
  const packets = readPackets();
  const end = await runFfmpeg({
    ...run,
    // If each packet were flushed, an MP3 of 4 h would cost this process half a million reads.
    outputArgs: ['-c', 'copy', ...packetTimes, '-flush_packets', '0', '-f', 'framecrc', 'pipe:1'],
    onStdout: (chunk) => {
      packets.push(chunk);
      if (packets.times.lengthMs > maxDurationMs) throw audioTooLong(maxDurationMs);
    },
  });
  if (end.how !== 'exited' || (end.code !== 0 && /Cannot allocate memory/.test(end.stderr))) return undefined;
  const { times } = packets;
  if (times.startsMs.length === 0)
    throw new AudioError('unsupported_media', `ffmpeg could not read the file: ${lastLine(end.stderr)}`);
  const [track, ...more] = end.header.tracks;
  // Which of several tracks will be decoded is not known yet.
  if (more.length === 0) refuseUndecodable(track);
  const { gaps, areBelieved } = await allGapsOf(run, end.header, times);
  if (!areBelieved) throw new NotTold();
  return lengthWith(gaps, times);
}

/**
 * Reads ffmpeg's format framecrc: lines `stream, dts, pts, duration, size, crc` in units of the header
 * `#tb 0: 1/44100`.
 * @throws {NotTold} a packet without a duration, or with one that is damaged
 */
function readPackets(): { times: PacketTimes; push: (chunk: Buffer) => void } {
  const times = new PacketTimes();
  let [rest, unitMs] = ['', 0];
  return {
    times,
    push(chunk) {
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        // Of a header's lines, and not of half a million packets.
        const [, over, under] = line.startsWith('#') ? (/^#tb 0: (\d+)\/(\d+)$/.exec(line) ?? []) : [];
        if (under !== undefined) unitMs = (Number(over) * 1000) / Number(under);
        if (!line.startsWith('0,')) continue;
        const [, , start, duration] = line.split(',', 4);
        const lengthMs = Number(duration) * unitMs;
        if (!(lengthMs > 0 && lengthMs <= longestMs)) throw new NotTold();
        times.push(Number(start) * unitMs, lengthMs);
      }
    },
  };
}
