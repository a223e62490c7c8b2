import { open } from 'node:fs/promises';
import { AudioToolError } from './audio-error.ts';
import { decodeSamples } from './decode-samples.ts';
import { unreadable } from './ffmpeg.ts';
import { gainFor } from './gain.ts';
import { louderChannel } from './louder-channel.ts';
import { LoudnessMeter } from './loudness.ts';
import { hiddenDelayMs } from './picture.ts';
import { OperatorFault } from '../ops/operator-fault.ts';
import { silencing } from './silencing.ts';
import { isTruncated } from './truncation.ts';
import type { SamplesOptions } from './decode-samples.ts';
import type { FileHeader, Track } from './ffmpeg-log.ts';
import type { Loudness } from './loudness.ts';
import type { Span } from './pieces.ts';
import type { Silence } from './silences.ts';

export interface DecodeOptions extends Omit<SamplesOptions, 'gainDb' | 'leadMs'> {
  /** Where the samples go; overwritten. */
  output: string;
  /** Where it is made silent, in order. */
  silenced?: readonly Span[] | undefined;
}

export interface Decoded {
  /** The length of what was written. */
  durationMs: number;
  silences: Silence[];
  warnings: AudioWarning[];
  /** All audio streams of the file. */
  tracks: readonly Track[];
}

/** What makes the transcript of a recording less than it could be, as far as the audio tells. */
export type AudioWarning = 'truncated' | 'quiet' | 'clipped' | 'narrowband' | 'other_tracks_ignored';

/**
 * Decodes an audio stream to a raw file of 16 kHz mono s16le without header. Samples are written to disk as they come.
 * What is found out at the end makes it decode once more: sound that begins after a picture gets silence before it,
 * channels that cancel each other are replaced by the loudest of them, and what is very quiet is made louder. After an
 * error a part of the output may exist; the caller removes its folder.
 * @throws what `decodeSamples` throws
 * @throws {AudioToolError} disk full
 */
export async function decodeAudio(options: DecodeOptions): Promise<Decoded> {
  let manner: Pick<SamplesOptions, 'channel' | 'gainDb' | 'leadMs'> = { channel: options.channel };
  let written = await writeSamples({ ...options, ...manner });
  const again = async (change: typeof manner): Promise<void> => {
    manner = { ...manner, ...change };
    written = await writeSamples({ ...options, ...manner });
  };
  const leadMs = await hiddenDelayMs(options, written.header);
  if (leadMs > 0) await again({ leadMs });
  const channel = options.channel ?? (await louderChannel(options, written.header, written.loudness));
  if (channel !== options.channel) await again({ channel });
  const { isClipped } = written.loudness;
  const gainDb = gainFor(written.loudness);
  if (gainDb > 0) await again({ gainDb });

  const { durationMs, header, loudness } = written;
  const warnings: Record<AudioWarning, boolean> = {
    truncated: await isTruncated(options.input, header, durationMs).catch(unreadable),
    quiet: gainDb > 0,
    clipped: isClipped,
    narrowband: isNarrowband(header.tracks[options.track ?? 0]),
    other_tracks_ignored: header.tracks.length > 1,
  };
  const told = (Object.keys(warnings) as AudioWarning[]).filter((code) => warnings[code]);
  return { durationMs, silences: loudness.silences, warnings: told, tracks: header.tracks };
}

/** Sampled 8,000 times a second, as telephones do, it has nothing above 4 kHz. */
const isNarrowband = (track: Track | undefined): boolean =>
  track !== undefined && track.sampleRate > 0 && track.sampleRate <= 8_000;

async function writeSamples({
  output,
  silenced = [],
  ...options
}: SamplesOptions & Pick<DecodeOptions, 'output' | 'silenced'>): Promise<{
  durationMs: number;
  header: FileHeader;
  loudness: Loudness;
}> {
  // The file holds what people said, so no other user may read it, whatever the umask is.
  await using file = await open(output, 'w', 0o600).catch(unwritable);
  const meter = new LoudnessMeter();
  const silence = silencing(silenced);
  const decoded = await decodeSamples(options, async (samples) => {
    silence(samples);
    meter.push(samples);
    // Unlike `write`, `writeFile` goes on when a nearly full disk took only a part.
    await file.writeFile(samples).catch(unwritable);
  });
  // Some file systems report a full disk only when the file is closed.
  await file.close().catch(unwritable);
  return { ...decoded, loudness: meter.end() };
}

/**
 * The error for samples that can't be written (for example because their folder is gone). The audio is not at fault.
 */
function unwritable(error: Error): never {
  const cause = new OperatorFault(error.message, { cause: error });
  throw new AudioToolError('the decoded audio could not be written', { cause });
}
