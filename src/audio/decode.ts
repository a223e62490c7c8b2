import { open } from 'node:fs/promises';
import { AudioError, AudioToolError, audioTooLong } from './audio-error.ts';
import { lastLine, runFfmpeg, unreadable } from './ffmpeg.ts';
import { isOggOpus } from './ogg-opus.ts';
import { OperatorFault } from '../operator-fault.ts';
import { bytesPerMs } from './samples.ts';
import { readSilences, silenceFilters } from './silences.ts';
import { timelineExpression } from './timeline.ts';
import type { FileHandle } from 'node:fs/promises';
import type { ChildEnd } from '../children/child.ts';
import type { Silence } from './silences.ts';

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

/**
 * How much more than the maximum is decoded. It shows whether the audio is exactly as long as the maximum, or longer.
 */
const excessMs = 1000;

/**
 * Decodes the first audio stream to a raw file of 16 kHz mono s16le without header. Samples are written to disk as they
 * come. Gaps between timestamps become silence, so that times are those that a player shows. Damaged audio is decoded
 * as far as possible. After an error a part of the output may exist; the caller removes its folder.
 * @returns the length of what was written, in ms, and its silences, which are found in the same pass
 * @throws {AudioError} `unsupported_media` (also when nothing could be decoded), `no_audio_track`, `audio_too_long`,
 *   `timed_out`
 * @throws {AudioToolError} ffmpeg missing, stopped or crashed, memory or disk full
 * @throws the abort reason of `options.signal`
 */
export async function decodeAudio(options: DecodeOptions): Promise<{ durationMs: number; silences: Silence[] }> {
  const { input, output, maxDurationMs, channel, timeLimitMs, signal } = options;
  // The file holds what people said, so no other user may read it, whatever the umask is.
  await using file = await open(output, 'w', 0o600).catch(unwritable);
  const silences = readSilences();
  const samples = writeSamples(file, (maxDurationMs + 2 * excessMs) * bytesPerMs);
  const end = await runFfmpeg({
    input,
    outputArgs: [
      ...[
        '-af',
        toRecognizerInput(await isOggOpus(input).catch(unreadable), channel),
        '-t',
        `${maxDurationMs + excessMs}ms`,
      ],
      ...['-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1'],
    ],
    timeLimitMs,
    ...(signal && { signal }),
    onStdout: samples.push,
    onDescriptor3: silences.push,
  });
  throwUnlessExited(end);
  // Some file systems report a full disk only when the file is closed.
  await file.close().catch(unwritable);
  const durationMs = Math.floor(samples.bytes() / bytesPerMs);
  if (durationMs > maxDurationMs) throw audioTooLong(maxDurationMs);
  if (durationMs === 0) throw new AudioError('unsupported_media', `nothing to decode: ${lastLine(end.stderr)}`);
  return { durationMs, silences: silences.silences(durationMs) };
}

/**
 * Writes the samples. ffmpeg does not write them itself: its version 5.1 exits with 0 when the disk has no room for the
 * last samples.
 */
function writeSamples(file: FileHandle, mostBytes: number) {
  let bytes = 0;
  return {
    bytes: () => bytes,
    async push(chunk: Buffer): Promise<void> {
      bytes += chunk.length;
      if (bytes > mostBytes) throw new AudioError('audio_too_long', 'the output reached its largest size');
      // Unlike `write`, `writeFile` goes on when a nearly full disk took only a part.
      await file.writeFile(chunk).catch(unwritable);
    },
  };
}

/**
 * The error for samples that can't be written (for example because their folder is gone). The audio is not at fault.
 */
function unwritable(error: Error): never {
  const cause = new OperatorFault(error.message, { cause: error });
  throw new AudioToolError('the decoded audio could not be written', { cause });
}

function toRecognizerInput(isOggOpus: boolean, channel: number | undefined): string {
  return [
    // Where a part of a joined file lacks the channel, ffmpeg fills it with silence.
    ...(channel === undefined ? [] : [`pan=mono|c0=c${channel - 1}`]),
    // Reduced first, because silence for a gap is buffered whole: in 8 channels at 192 kHz it would be many times
    // larger.
    'aformat=sample_fmts=s16:sample_rates=16000:channel_layouts=mono',
    `asetpts='${timelineExpression('PTS', 'NB_SAMPLES/SR/TB', 'start', isOggOpus)}'`,
    'aresample=async=1:first_pts=0',
    ...silenceFilters,
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
