import { open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AudioError, AudioToolError } from './audio-error.ts';
import type { ChildEnd } from '../children/child.ts';
import { lastLine, runFfmpeg } from './ffmpeg.ts';
import { bytesPerMs } from './samples.ts';
import { readSilences, silenceFilters } from './silences.ts';
import { timelineExpression } from './timeline.ts';
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
 * @throws {AudioToolError} ffmpeg missing or crashed, memory or disk full
 * @throws the abort reason of `options.signal`
 */
export async function decodeAudio(options: DecodeOptions): Promise<{ durationMs: number; silences: Silence[] }> {
  const { input, output, maxDurationMs, timeLimitMs, signal } = options;
  await createPrivate(output);
  const silences = readSilences();
  const end = await runFfmpeg({
    input,
    outputArgs: [
      ...['-af', toRecognizerInput(), '-t', `${maxDurationMs + excessMs}ms`],
      ...['-f', 's16le', '-c:a', 'pcm_s16le', '-y', `file:${resolve(output)}`],
    ],
    // ffmpeg writes whole blocks, so let `-t` be what ends it.
    outputBytes: (maxDurationMs + 2 * excessMs) * bytesPerMs,
    timeLimitMs,
    ...(signal && { signal }),
    onStdout: silences.push,
  });
  throwUnlessExited(end);
  const durationMs = Math.floor((await stat(output)).size / bytesPerMs);
  if (durationMs > maxDurationMs) throw new AudioError('audio_too_long', `more than ${maxDurationMs} ms of audio`);
  if (durationMs === 0) throw new AudioError('unsupported_media', `nothing to decode: ${lastLine(end.stderr)}`);
  return { durationMs, silences: silences.silences(durationMs) };
}

function toRecognizerInput(): string {
  return [
    // Reduced first: silence for a gap is buffered whole, and would be many times larger at 192 kHz in 8 channels.
    'aformat=sample_fmts=s16:sample_rates=16000:channel_layouts=mono',
    `asetpts='${timelineExpression('PTS', 'NB_SAMPLES/SR/TB', 'start')}'`,
    'aresample=async=1:first_pts=0',
    ...silenceFilters,
  ].join(',');
}

async function createPrivate(output: string): Promise<void> {
  try {
    // Other people's words: readable by no other user, whatever the umask.
    await (await open(output, 'w', 0o600)).close();
  } catch (error) {
    throw new AudioToolError('the decoded audio could not be written', { cause: error });
  }
}

function throwUnlessExited(end: ChildEnd): void {
  if (end.how === 'timed_out') throw new AudioError('timed_out', 'decoding took too long');
  if (end.how === 'killed') {
    if (end.by === 'SIGXCPU') throw new AudioError('timed_out', 'decoding took too much processor time');
    if (end.by === 'SIGXFSZ') throw new AudioError('audio_too_long', 'the output reached its largest size');
    throw new AudioToolError(`ffmpeg was killed by ${end.by}`);
  }
  if (end.code !== 0 && /Cannot allocate memory/.test(end.stderr)) {
    throw new AudioToolError(`ffmpeg ran out of memory: ${lastLine(end.stderr)}`);
  }
}
