import { AudioError, AudioToolError } from './audio-error.ts';
import { lastLine, runFfmpeg } from './ffmpeg.ts';
import { timelineExpression } from './timeline.ts';

export interface MeasureOptions {
  timeLimitMs: number;
  signal?: AbortSignal;
}

/** Long enough for the header and for one line of ffmpeg's framecrc format. */
const keptBytes = 4096;

/**
 * The end, in ms, of the last packet of the audio stream that `decodeAudio` decodes, found by demuxing the whole file
 * without decoding it: headers lie or are missing (decisions, section 4). Undefined when that took too long or ffmpeg
 * was killed by a limit.
 * @throws {AudioError} `unsupported_media`, `no_audio_track`
 * @throws {AudioToolError} ffmpeg could not run
 * @throws the abort reason of `options.signal`
 */
export async function measureAudio(file: string, options: MeasureOptions): Promise<{ durationMs?: number }> {
  let head = '';
  let tail = '';
  const end = await runFfmpeg({
    input: file,
    // framecrc prints a line per packet, with its timestamp already moved to its end. Only the last line is read:
    // parsing half a million of them would hold up the event loop. `-progress` is off by the last packet, or more.
    outputArgs: [
      ...['-c', 'copy', '-bsf:a', `setts=ts='${timelineExpression('TS', 'DURATION', 'end')}'`],
      // Flushed per packet, a 4 h MP3 would cost this process half a million reads.
      ...['-flush_packets', '0', '-f', 'framecrc', 'pipe:1'],
    ],
    outputBytes: 0,
    ...options,
    onStdout: (chunk) => {
      if (head.length < keptBytes) head += chunk.toString('latin1').slice(0, keptBytes);
      const last = chunk.subarray(-keptBytes).toString('latin1');
      tail = (tail + last).slice(-keptBytes);
    },
  });
  if (end.how !== 'exited') return {};
  if (end.code !== 0 && /Cannot allocate memory/.test(end.stderr)) return {};
  const durationMs = endOfLastPacket(head, tail);
  if (durationMs !== undefined) return { durationMs };
  if (end.code === 0 && !head.startsWith('#')) throw new AudioToolError('ffmpeg printed no measurement');
  throw new AudioError('unsupported_media', `ffmpeg could not read the file: ${lastLine(end.stderr)}`);
}

/** Lines are `stream, dts, pts, duration, size, crc` in units of the header `#tb 0: 1/44100`. */
function endOfLastPacket(head: string, tail: string): number | undefined {
  const timeBase = /^#tb 0: (\d+)\/(\d+)$/m.exec(head);
  const lastPacket = [...tail.matchAll(/^0, *-?\d+, *(-?\d+),.*\n/gm)].at(-1);
  if (!timeBase || !lastPacket) return undefined;
  const durationMs = Math.round((Number(lastPacket[1]) * Number(timeBase[1]) * 1000) / Number(timeBase[2]));
  return Math.max(0, durationMs);
}
