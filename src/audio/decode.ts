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
  timeLimitMs: number;
  signal?: AbortSignal;
}

/** How much more than the maximum is decoded, to tell "exactly the maximum" from "more than that". */
const excessMs = 1000;

/**
 * Decodes the first audio stream to a raw file of 16 kHz mono s16le without header, written to disk as it comes. Gaps
 * between timestamps become silence, so that times are those a player shows. Damaged audio decodes as far as it goes.
 * After an error the output may be there, in part: its folder is the caller's to clear.
 * @returns the length of what was written, in ms, and its silences, found in the same pass
 * @throws {AudioError} `unsupported_media` (also when nothing could be decoded), `no_audio_track`, `audio_too_long`,
 *   `timed_out`
 * @throws {AudioToolError} ffmpeg missing, stopped or crashed, memory or disk full
 * @throws the abort reason of `options.signal`
 */
export async function decodeAudio(options: DecodeOptions): Promise<{ durationMs: number; silences: Silence[] }> {
  const { input, output, maxDurationMs, timeLimitMs, signal } = options;
  // Other people's words: readable by no other user, whatever the umask.
  await using file = await open(output, 'w', 0o600).catch(unwritable);
  const silences = readSilences();
  const samples = writeSamples(file, (maxDurationMs + 2 * excessMs) * bytesPerMs);
  const end = await runFfmpeg({
    input,
    outputArgs: [
      ...['-af', toRecognizerInput(await isOggOpus(input).catch(unreadable)), '-t', `${maxDurationMs + excessMs}ms`],
      ...['-c:a', 'pcm_s16le', '-f', 's16le', 'pipe:1'],
    ],
    timeLimitMs,
    ...(signal && { signal }),
    onStdout: samples.push,
    onDescriptor3: silences.push,
  });
  throwUnlessExited(end);
  // Some file systems tell only now that the disk is full.
  await file.close().catch(unwritable);
  const durationMs = Math.floor(samples.bytes() / bytesPerMs);
  if (durationMs > maxDurationMs) throw audioTooLong(maxDurationMs);
  if (durationMs === 0) throw new AudioError('unsupported_media', `nothing to decode: ${lastLine(end.stderr)}`);
  return { durationMs, silences: silences.silences(durationMs) };
}

/**
 * This process writes the samples, and not ffmpeg, whose exit code is 0 when the disk has no room for the last of them
 * (its version 5.1).
 */
function writeSamples(file: FileHandle, mostBytes: number) {
  let bytes = 0;
  return {
    bytes: () => bytes,
    async push(chunk: Buffer): Promise<void> {
      bytes += chunk.length;
      if (bytes > mostBytes) throw new AudioError('audio_too_long', 'the output reached its largest size');
      // Unlike `write` it goes on where a disk that is nearly full took a part, until all is written or fails.
      await file.writeFile(chunk).catch(unwritable);
    },
  };
}

/** Whatever keeps us from writing (also a folder that is gone), the audio is none of it. */
function unwritable(error: Error): never {
  const cause = new OperatorFault(error.message, { cause: error });
  throw new AudioToolError('the decoded audio could not be written', { cause });
}

function toRecognizerInput(isOggOpus: boolean): string {
  return [
    // Reduced first: silence for a gap is buffered whole, and would be many times larger at 192 kHz in 8 channels.
    'aformat=sample_fmts=s16:sample_rates=16000:channel_layouts=mono',
    `asetpts='${timelineExpression('PTS', 'NB_SAMPLES/SR/TB', 'start', isOggOpus)}'`,
    'aresample=async=1:first_pts=0',
    ...silenceFilters,
  ].join(',');
}

function throwUnlessExited(end: ChildEnd): void {
  if (end.how === 'timed_out') throw new AudioError('timed_out', 'decoding took too long');
  if (end.how === 'killed') throw new AudioToolError(`ffmpeg was killed by ${end.by}`);
  if (end.code !== 0 && /Cannot allocate memory/.test(end.stderr)) {
    throw new AudioToolError(`ffmpeg ran out of memory: ${lastLine(end.stderr)}`);
  }
}
