import { AudioError } from './audio-error.ts';
import { throwUnlessExited } from './decode.ts';
import { lastLine, runFfmpeg } from './ffmpeg.ts';
import type { FfmpegRun } from './ffmpeg.ts';

/** Where a WAV file says how many channels it has (16 bits, little endian). */
const channelsAt = 22;
const headerBytes = 44;
/** One decoded frame is enough: ffmpeg writes the header with the first one. */
const listenMs = 100;

/**
 * Counts the channels of the audio stream that `decodeAudio` decodes, as they are when it begins.
 * @throws {AudioError} `unsupported_media`, `no_audio_track`, `timed_out`
 * @throws {AudioToolError} as `decodeAudio` does
 * @throws the abort reason of `options.signal`
 */
export async function countChannels(options: Pick<FfmpegRun, 'input' | 'timeLimitMs' | 'signal'>): Promise<number> {
  let head = Buffer.alloc(0);
  const end = await runFfmpeg({
    ...options,
    // Without `bitexact`, the name of the program would stand in the header.
    outputArgs: ['-t', `${listenMs}ms`, '-fflags', '+bitexact', '-c:a', 'pcm_s16le', '-f', 'wav', 'pipe:1'],
    onStdout: (chunk) => {
      if (head.length < headerBytes) head = Buffer.concat([head, chunk]).subarray(0, headerBytes);
    },
  });
  throwUnlessExited(end);
  if (head.length < headerBytes)
    throw new AudioError('unsupported_media', `nothing to decode: ${lastLine(end.stderr)}`);
  return head.readUInt16LE(channelsAt);
}
