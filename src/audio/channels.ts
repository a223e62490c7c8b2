import { AudioError } from './audio-error.ts';
import { throwUnlessExited } from './decode-samples.ts';
import { lastLine, runFfmpeg } from './ffmpeg.ts';
import { chooseTrack } from './tracks.ts';
import type { Track } from './ffmpeg-log.ts';
import type { FfmpegRun } from './ffmpeg.ts';

/** Where a WAV file says how many channels it has (16 bits, little endian). */
const channelsAt = 22;
const headerBytes = 44;
/** One decoded frame is enough: ffmpeg writes the header with the first one. */
const listenMs = 100;

type Run = Pick<FfmpegRun, 'input' | 'timeLimitMs' | 'signal'>;

/**
 * Counts the channels of the track that is to be transcribed, as they are when it begins.
 * @returns the track's place among the audio streams, too
 * @throws {AudioError} `unsupported_media`, `no_audio_track`, `timed_out`
 * @throws {AudioToolError} as `decodeAudio` does
 * @throws the abort reason of `options.signal`
 */
export async function countChannels(run: Run): Promise<{ track: number; channels: number }> {
  const { channels, tracks } = await channelsOf(run, 0);
  const track = tracks.length < 2 ? 0 : await chooseTrack(run, tracks);
  return { track, channels: track === 0 ? channels : (await channelsOf(run, track)).channels };
}

async function channelsOf(run: Run, track: number): Promise<{ channels: number; tracks: readonly Track[] }> {
  let head = Buffer.alloc(0);
  const end = await runFfmpeg({
    ...run,
    stream: `0:a:${track}`,
    // Without `bitexact`, the name of the program would stand in the header.
    outputArgs: ['-t', `${listenMs}ms`, '-fflags', '+bitexact', '-c:a', 'pcm_s16le', '-f', 'wav', 'pipe:1'],
    onStdout: (chunk) => {
      if (head.length < headerBytes) head = Buffer.concat([head, chunk]).subarray(0, headerBytes);
    },
  });
  throwUnlessExited(end);
  if (head.length < headerBytes)
    throw new AudioError('unsupported_media', `nothing to decode: ${lastLine(end.stderr)}`);
  return { channels: head.readUInt16LE(channelsAt), tracks: end.header.tracks };
}
