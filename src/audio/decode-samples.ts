import { AudioError, AudioToolError, audioTooLong } from './audio-error.ts';
import { lastLine, runFfmpeg } from './ffmpeg.ts';
import { readTimedPackets, timedPackets } from './timed-packets.ts';
import { PacketTimes } from './timeline.ts';
import type { ChildEnd } from '../children/child.ts';
import type { Track } from './ffmpeg-log.ts';

export interface SamplesOptions {
  /** The untrusted file. */
  input: string;
  maxDurationMs: number;
  /** The audio stream to decode, from 0. Without it, the first. */
  track?: number | undefined;
  /** The only channel to decode, from 1. Without it, all channels are mixed. */
  channel?: number | undefined;
  /** So many channels count alike in the mix. Without it, each counts by its place. */
  channels?: number | undefined;
  /** Every other one of these is turned round before it is mixed. */
  isTurned?: boolean | undefined;
  /** So much louder. What is too low for a voice is left out then, so that it doesn't become louder. */
  gainDb?: number | undefined;
  timeLimitMs: number;
  signal?: AbortSignal | undefined;
}

/** What is lower is no voice. */
export const lowestHz = 120;

/** So many channels are in no known place, so all are to count alike: {@link mixingAlike}. */
class UnplacedChannels extends Error {
  readonly channels: number;

  constructor(channels: number) {
    super(`${channels} channels`);
    this.channels = channels;
  }
}

/** Does what decodes samples, and does it once more where only the header tells that all channels count alike. */
export async function mixingAlike<T, Options extends SamplesOptions>(
  options: Options,
  decode: (options: Options) => Promise<T>,
): Promise<T> {
  return decode(options).catch((error: unknown) => {
    if (error instanceof UnplacedChannels) return decode({ ...options, channels: error.channels });
    throw error;
  });
}

export type Decoding = Awaited<ReturnType<typeof decodeSamples>>;

/**
 * Decodes an audio stream to 16 kHz mono s16le, and hands the samples over as they come, one behind the other. Damaged
 * audio is decoded as far as possible.
 * @returns their length, their times, and what the file says of itself
 * @throws {AudioError} `unsupported_media` (also when nothing could be decoded), `no_audio_track`, `audio_too_long`,
 *   `timed_out`, `too_many_channels`
 * @throws {AudioToolError} ffmpeg missing, stopped or crashed, or out of memory
 * @throws {UnplacedChannels}
 * @throws the abort reason of `options.signal`
 */
export async function decodeSamples(
  { input, maxDurationMs, track = 0, timeLimitMs, signal, ...manner }: SamplesOptions,
  onSamples: (samples: Buffer) => Promise<void> | void,
) {
  const packetsOf = readTimedPackets();
  const times = new PacketTimes();
  const end = await runFfmpeg({
    ...{ input, timeLimitMs, stream: `0:a:${track}`, ...(signal && { signal }) },
    outputArgs: ['-af', toRecognizerInput(manner), '-lfe_mix_level', '1', '-c:a', 'pcm_s16le', ...timedPackets],
    async onStdout(chunk) {
      const packets = packetsOf(chunk);
      for (const { startMs, lengthMs } of packets) times.push(startMs, lengthMs);
      if (Math.floor(times.lengthMs) > maxDurationMs) throw audioTooLong(maxDurationMs);
      await onSamples(Buffer.concat(packets.map(({ samples }) => samples)));
    },
  });
  const said = end.header.tracks[track];
  refuseUndecodable(said);
  throwUnlessExited(end);
  const isMixed = manner.channel !== undefined || manner.channels !== undefined;
  if (!isMixed && said?.isPlaced === false) throw new UnplacedChannels(said.channels);
  const durationMs = Math.floor(times.lengthMs);
  if (durationMs === 0) throw new AudioError('unsupported_media', `nothing to decode: ${lastLine(end.stderr)}`);
  return { durationMs, times, header: end.header };
}

function toRecognizerInput({
  channel,
  channels,
  isTurned,
  gainDb,
}: Pick<SamplesOptions, 'channel' | 'channels' | 'isTurned' | 'gainDb'>): string {
  return [
    // Where a part of a joined file lacks the channel, ffmpeg fills it with silence.
    ...(channel === undefined ? [] : [`pan=mono|c0=c${channel - 1}`]),
    // By their place, ffmpeg would leave one out that it takes for a subwoofer's.
    ...(channels === undefined ? [] : [allAlike(channels, isTurned === true)]),
    // In floating point, where the codec has more than 16 bits.
    ...(gainDb === undefined
      ? []
      : [...fourPoles.map((q) => `highpass=f=${lowestHz}:t=q:w=${q}`), `volume=${gainDb}dB`]),
    'aformat=sample_fmts=s16:sample_rates=16000:channel_layouts=mono',
  ].join(',');
}

/** The Q of both parts of a Butterworth filter of four poles. */
export const fourPoles = [0.5412, 1.3066];

function allAlike(channels: number, isTurned: boolean): string {
  const height = (1 / channels).toFixed(6);
  const parts = Array.from(
    { length: channels },
    (_, index) => `${isTurned && index % 2 === 1 ? '-' : '+'}${height}*c${index}`,
  );
  return `pan=mono|c0=${parts.join('').replace(/^\+/, '')}`;
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
/** As many as ffmpeg's filters take. */
const mostChannels = 64;

/**
 * Refuses audio whose packets can be read and whose samples can't be had.
 * @throws {AudioError} `unsupported_media`, `too_many_channels`
 */
export function refuseUndecodable(track: Track | undefined): void {
  if (track === undefined) return;
  if (track.sampleRate > highestRate) throw new AudioError('unsupported_media', `${track.sampleRate} samples a second`);
  if (track.channels > mostChannels) throw new AudioError('too_many_channels', `${track.channels} channels`);
}
