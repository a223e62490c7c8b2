import { open } from 'node:fs/promises';
import { AudioError, AudioToolError, audioTooLong } from './audio-error.ts';
import { hasFalseTimes } from './false-times.ts';
import { lastLine, runFfmpeg, unreadable } from './ffmpeg.ts';
import { OperatorFault } from '../operator-fault.ts';
import { pictureStartMs } from './picture.ts';
import { bytesPerMs, bytesPerSample, samplesPerMs } from './samples.ts';
import { SilenceFinder } from './silences.ts';
import { readTimedPackets, timedPackets } from './timed-packets.ts';
import { Timeline } from './timeline.ts';
import { isTruncated } from './truncation.ts';
import type { ChildEnd } from '../children/child.ts';
import type { FileHeader } from './ffmpeg-log.ts';
import type { Silence } from './silences.ts';
import type { TimedPacket } from './timed-packets.ts';

export interface DecodeOptions {
  /** The untrusted file. */
  input: string;
  /** Where the samples go; overwritten. */
  output: string;
  maxDurationMs: number;
  /** The only channel to decode, from 1. Without it, all channels are mixed. */
  channel?: number | undefined;
  timeLimitMs: number;
  signal?: AbortSignal;
}

export interface Decoded {
  /** The length of what was written. */
  durationMs: number;
  silences: Silence[];
  warnings: AudioWarning[];
}

/** What makes the transcript of a recording less than it could be, as far as the audio tells. */
export type AudioWarning = 'truncated';

/**
 * Decodes the first audio stream to a raw file of 16 kHz mono s16le without header. Samples are written to disk as they
 * come. Gaps between timestamps become silence, so that times are those that a player shows. Damaged audio is decoded
 * as far as possible. After an error a part of the output may exist; the caller removes its folder.
 * @throws {AudioError} `unsupported_media` (also when nothing could be decoded), `no_audio_track`, `audio_too_long`,
 *   `timed_out`
 * @throws {AudioToolError} ffmpeg missing, stopped or crashed, memory or disk full
 * @throws the abort reason of `options.signal`
 */
export async function decodeAudio(options: DecodeOptions): Promise<Decoded> {
  // The file holds what people said, so no other user may read it, whatever the umask is.
  await using file = await open(options.output, 'w', 0o600).catch(unwritable);
  const silences = new SilenceFinder();
  const { durationMs, header } = await decodeSamples(options, async (samples) => {
    silences.push(samples);
    // Unlike `write`, `writeFile` goes on when a nearly full disk took only a part.
    await file.writeFile(samples).catch(unwritable);
  });
  // Some file systems report a full disk only when the file is closed.
  await file.close().catch(unwritable);
  const warnings = await warningsOf(options.input, header, durationMs).catch(unreadable);
  return { durationMs, silences: silences.end(), warnings };
}

/**
 * Decodes as `decodeAudio` does, and hands the samples over as they come.
 * @returns their length, and what the file says of itself
 */
export async function decodeSamples(
  { input, maxDurationMs, channel, timeLimitMs, signal }: Omit<DecodeOptions, 'output'>,
  onSamples: (samples: Buffer) => Promise<void>,
): Promise<{ durationMs: number; header: FileHeader }> {
  const run = { input, timeLimitMs, ...(signal && { signal }) };
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
  const end = await runFfmpeg({
    ...run,
    outputArgs: ['-af', toRecognizerInput(channel), '-c:a', 'pcm_s16le', ...timedPackets],
    onStdout: (chunk) => take(packetsOf(chunk)),
  });
  throwUnlessExited(end);
  await take([undefined]);
  const durationMs = Math.floor(bytes / bytesPerMs);
  if (durationMs === 0) throw new AudioError('unsupported_media', `nothing to decode: ${lastLine(end.stderr)}`);
  return { durationMs, header: end.header };
}

async function warningsOf(input: string, header: FileHeader, durationMs: number): Promise<AudioWarning[]> {
  return (await isTruncated(input, header, durationMs)) ? ['truncated'] : [];
}

const silence = Buffer.alloc(1024 * 1024);

async function handOverSilence(bytes: number, handOver: (samples: Buffer) => Promise<void>): Promise<void> {
  for (let left = bytes; left > 0; left -= silence.length) await handOver(silence.subarray(0, left));
}

/**
 * The error for samples that can't be written (for example because their folder is gone). The audio is not at fault.
 */
function unwritable(error: Error): never {
  const cause = new OperatorFault(error.message, { cause: error });
  throw new AudioToolError('the decoded audio could not be written', { cause });
}

function toRecognizerInput(channel: number | undefined): string {
  return [
    // Where a part of a joined file lacks the channel, ffmpeg fills it with silence.
    ...(channel === undefined ? [] : [`pan=mono|c0=c${channel - 1}`]),
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
