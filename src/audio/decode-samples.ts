import { AudioError, AudioToolError, audioTooLong } from './audio-error.ts';
import { hasFalseTimes } from './false-times.ts';
import { lastLine, runFfmpeg, unreadable } from './ffmpeg.ts';
import { pictureStartMs } from './picture.ts';
import { bytesPerMs, bytesPerSample, samplesPerMs } from './samples.ts';
import { readTimedPackets, timedPackets } from './timed-packets.ts';
import { Timeline } from './timeline.ts';
import type { ChildEnd } from '../children/child.ts';
import type { FileHeader, Track } from './ffmpeg-log.ts';
import type { TimedPacket } from './timed-packets.ts';

export interface SamplesOptions {
  /** The untrusted file. */
  input: string;
  maxDurationMs: number;
  /** The audio stream to decode, from 0. Without it, the first. */
  track?: number | undefined;
  /** The only channel to decode, from 1. Without it, all channels are mixed. */
  channel?: number | undefined;
  /** So much louder. */
  gainDb?: number | undefined;
  /** Silence before the first sample. */
  leadMs?: number | undefined;
  timeLimitMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Decodes an audio stream to 16 kHz mono s16le, and hands the samples over as they come. Gaps between timestamps become
 * silence, so that times are those that a player shows. Damaged audio is decoded as far as possible.
 * @returns their length, and what the file says of itself
 * @throws {AudioError} `unsupported_media` (also when nothing could be decoded), `no_audio_track`, `audio_too_long`,
 *   `timed_out`
 * @throws {AudioToolError} ffmpeg missing, stopped or crashed, or out of memory
 * @throws the abort reason of `options.signal`
 */
export async function decodeSamples(
  { input, maxDurationMs, track = 0, channel, gainDb, leadMs = 0, timeLimitMs, signal }: SamplesOptions,
  onSamples: (samples: Buffer) => Promise<void>,
): Promise<{ durationMs: number; header: FileHeader }> {
  const run = { input, timeLimitMs, stream: `0:a:${track}` as const, ...(signal && { signal }) };
  const isTimed = !(await hasFalseTimes(input).catch(unreadable));
  const timeline = new Timeline(() => pictureStartMs(run));
  const packetsOf = readTimedPackets();
  let bytes = 0;
  let last: TimedPacket | undefined;
  const handOver = async (samples: Buffer): Promise<void> => {
    bytes += samples.length;
    if (Math.floor(bytes / bytesPerMs) > maxDurationMs) throw audioTooLong(maxDurationMs);
    await onSamples(samples);
  };
  /** Each packet waits for its next one. */
  const take = async (packets: (TimedPacket | undefined)[]): Promise<void> => {
    let together: Buffer[] = [];
    for (const next of packets) {
      const gapMs = last === undefined || !isTimed ? 0 : await timeline.gapBefore(last, next);
      if (gapMs > 0) {
        await handOver(Buffer.concat(together));
        together = [];
        await handOverSilence(Math.round(gapMs * samplesPerMs) * bytesPerSample, handOver);
      }
      const overlap = Math.round(Math.max(0, -gapMs) * samplesPerMs) * bytesPerSample;
      if (last !== undefined) together.push(last.samples.subarray(overlap));
      last = next;
    }
    await handOver(Buffer.concat(together));
  };
  await handOverSilence(leadMs * bytesPerMs, handOver);
  const end = await runFfmpeg({
    ...run,
    outputArgs: ['-af', toRecognizerInput(channel, gainDb), '-c:a', 'pcm_s16le', ...timedPackets],
    onStdout: (chunk) => take(packetsOf(chunk)),
  });
  refuseUndecodable(end.header.tracks[track], channel !== undefined);
  throwUnlessExited(end);
  await take([undefined]);
  const durationMs = Math.floor(bytes / bytesPerMs);
  if (durationMs === 0) throw new AudioError('unsupported_media', `nothing to decode: ${lastLine(end.stderr)}`);
  return { durationMs, header: end.header };
}

const silence = Buffer.alloc(1024 * 1024);

async function handOverSilence(bytes: number, handOver: (samples: Buffer) => Promise<void>): Promise<void> {
  for (let left = bytes; left > 0; left -= silence.length) await handOver(silence.subarray(0, left));
}

function toRecognizerInput(channel: number | undefined, gainDb: number | undefined): string {
  return [
    // Where a part of a joined file lacks the channel, ffmpeg fills it with silence.
    ...(channel === undefined ? [] : [`pan=mono|c0=c${channel - 1}`]),
    // In floating point, where the codec has more than 16 bits.
    ...(gainDb === undefined ? [] : [`volume=${gainDb}dB`]),
    'aformat=sample_fmts=s16:sample_rates=16000:channel_layouts=mono',
  ].join(',');
}

/**
 * What a decoding ffmpeg that did not come to its end means for the file.
 * @throws {AudioError} `timed_out`
 * @throws {AudioToolError} it was killed, or ran out of memory
 */
export function throwUnlessExited(end: ChildEnd): void {
  if (end.how === 'timed_out') throw new AudioError('timed_out', 'decoding took too long');
  if (end.how === 'killed') throw new AudioToolError(`ffmpeg was killed by ${end.by}`);
  if (end.code !== 0 && /Cannot allocate memory/.test(end.stderr)) {
    throw new AudioToolError(`ffmpeg ran out of memory: ${lastLine(end.stderr)}`);
  }
}

/** Nothing that is recorded comes near. With some rates beyond, ffmpeg's resampler runs out of memory. */
const highestRate = 10_000_000;

/**
 * Refuses audio whose packets can be read and whose samples can't be had.
 * @param isSeparate whether its channels are decoded one by one instead of being mixed
 * @throws {AudioError} `unsupported_media`
 */
export function refuseUndecodable(track: Track | undefined, isSeparate: boolean): void {
  if (track === undefined) return;
  if (track.sampleRate > highestRate) throw new AudioError('unsupported_media', `${track.sampleRate} samples a second`);
  if (track.isUnmixable && !isSeparate) throw new AudioError('unsupported_media', 'channels that can not be mixed');
}
