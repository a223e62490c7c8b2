import { resolve } from 'node:path';
import { AudioError, AudioToolError } from './audio-error.ts';
import { ChildNotStarted, runChild } from '../children/child.ts';
import { codecWhitelist } from './codecs.ts';
import { ExecutableNotFound } from '../children/executable.ts';
import { formatWhitelist } from './formats.ts';
import { readPlainWav } from './plain-wav.ts';
import type { ChildEnd } from '../children/child.ts';

export interface FfmpegRun {
  /** The untrusted file. */
  input: string;
  /** What to do with its first audio stream, and where to. */
  outputArgs: readonly string[];
  /** The largest file it may write, in bytes. */
  outputBytes: number;
  timeLimitMs: number;
  signal?: AbortSignal;
  onStdout?: (chunk: Buffer) => void;
}

/** A header can claim any size. ffmpeg 5.1 does not start below some 300 MiB of address space (its libraries). */
const memoryBytes = 1024 ** 3;

/**
 * Runs ffmpeg on the first audio stream (`0:a:0`) of an untrusted file, kept to that one file and to hard limits.
 * How ffmpeg judged the file is left to the caller.
 * @throws {AudioToolError} ffmpeg could not run, the input can't be read, or the disk is full
 * @throws {AudioError} `no_audio_track`
 * @throws the abort reason of `run.signal`
 */
export async function runFfmpeg(run: FfmpegRun): Promise<ChildEnd> {
  const wav = await readPlainWav(run.input).catch(unreadable);
  const end = await runChild('ffmpeg', [...inputArgs(run.input, wav?.codec), ...run.outputArgs], {
    limits: {
      memoryBytes,
      cpuSeconds: Math.ceil(run.timeLimitMs / 1000),
      fileBytes: run.outputBytes,
      openFiles: 64,
    },
    timeLimitMs: run.timeLimitMs,
    ...(run.signal && { signal: run.signal }),
    ...(run.onStdout && { onStdout: run.onStdout }),
  }).catch((error: unknown) => {
    if (error instanceof ExecutableNotFound || error instanceof ChildNotStarted) {
      throw new AudioToolError(error.message, { cause: error });
    }
    throw error;
  });
  if (end.how === 'exited' && end.code !== 0) throwForMessage(end.code, end.stderr);
  return end;
}

/** @param wavCodec of a plain WAV file */
function inputArgs(input: string, wavCodec: string | undefined): string[] {
  return [
    ...['-hide_banner', '-nostdin', '-loglevel', 'error'],
    // Without these an upload could name other files and addresses. `pipe` is the way out, for `pipe:1`.
    ...['-protocol_whitelist', 'file,pipe', '-format_whitelist', formatWhitelist],
    ...['-codec_whitelist', codecWhitelist],
    // ffmpeg would take a plain WAV for another format, or its samples for compressed audio, where they look like it.
    ...(wavCodec === undefined ? [] : ['-f', 'wav', '-c:a', wavCodec]),
    // A decoder thread per core would multiply its memory.
    ...['-threads', '1'],
    // Demuxers skip what is not wanted, and pictures are never decoded.
    ...['-vn', '-sn', '-dn'],
    // `file:` keeps a name with a colon from being read as a protocol.
    ...['-i', `file:${resolve(input)}`, '-map', '0:a:0'],
  ];
}

/** ffmpeg 5.1 exits with 1 whatever happened: only the message tells. Lines about the file's insides begin with `[`. */
function throwForMessage(code: number, stderr: string): void {
  if (/^Stream map .*matches no streams/m.test(stderr)) throw new AudioError('no_audio_track', 'no audio stream');
  // Opening takes little memory, unless a header claims gigabytes: the file's fault, and it would fail again.
  if (/^file:.*: Cannot allocate memory$/m.test(stderr)) {
    throw new AudioError('unsupported_media', `a header claims too much: ${lastLine(stderr)}`);
  }
  if (/^(?!\[).*(No space left on device|Disk quota exceeded|Read-only file system)/m.test(stderr)) {
    throw new AudioToolError(`ffmpeg could not write: ${lastLine(stderr)}`);
  }
  // exec(2) failed after the look-up, or the dynamic linker did.
  if (code === 126 || code === 127) throw new AudioToolError(`ffmpeg could not run: ${lastLine(stderr)}`);
}

/** @throws {AudioToolError} always: for the `catch` of what reads an audio file */
export function unreadable(error: unknown): never {
  throw new AudioToolError('the audio file can no longer be read', { cause: error });
}

/** The line of ffmpeg's messages that says why it gave up. */
export function lastLine(stderr: string): string {
  return stderr.trimEnd().split('\n').at(-1) ?? '';
}
