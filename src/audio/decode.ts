import { open } from 'node:fs/promises';
import { AudioToolError } from './audio-error.ts';
import { decodeSamples } from './decode-samples.ts';
import { unreadable, runFfmpeg } from './ffmpeg.ts';
import { LoudnessMeter } from './loudness.ts';
import { hiddenDelayMs } from './picture.ts';
import { OperatorFault } from '../ops/operator-fault.ts';
import { bytesPerMs } from './samples.ts';
import type { SamplesOptions } from './decode-samples.ts';
import type { FileHeader, Track } from './ffmpeg-log.ts';
import type { Loudness } from './loudness.ts';
import type { Span } from './pieces.ts';
import type { FileHandle } from 'node:fs/promises';

export interface DecodeOptions extends Omit<SamplesOptions, 'gainDb' | 'leadMs'> {
  /** Where the samples go; overwritten. */
  output: string;
  /** Where it is made silent, in order. */
  silenced?: readonly Span[] | undefined;
}

export interface Decoded {
  /** The length of what was written. */
  durationMs: number;
  silences: Span[];
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

/** Models bear what is louder than this. Moonshine loses words from -70 dB on, and the rules for silence from -50 dB on. */
const quietDb = -40;
/** A usual level of speech, whose peaks have room above it. */
const usualDb = -26;
/** Between words, a voice is at least so much quieter. The noise of an empty room is steady. */
const leastRangeDb = 10;

/** How much louder a recording is to be made before anybody listens to it, in whole dB; mostly 0. */
function gainFor({ levelDb, floorDb }: Loudness): number {
  const isQuiet = levelDb < quietDb && levelDb !== -Infinity;
  return isQuiet && levelDb - floorDb >= leastRangeDb ? Math.round(usualDb - levelDb) : 0;
}

/**
 * Makes stretches of a recording silent.
 * @param stretches in order
 * @returns takes its samples as they come, and changes them
 */
export function silencing(stretches: readonly Span[]): (samples: Buffer) => void {
  let [atByte, next] = [0, 0];
  return (samples) => {
    const endByte = atByte + samples.length;
    while (next < stretches.length && stretches[next]!.endMs * bytesPerMs <= atByte) next += 1;
    for (let index = next; index < stretches.length && stretches[index]!.startMs * bytesPerMs < endByte; index += 1) {
      const { startMs, endMs } = stretches[index]!;
      samples.fill(
        0,
        Math.max(0, startMs * bytesPerMs - atByte),
        Math.min(samples.length, endMs * bytesPerMs - atByte),
      );
    }
    atByte = endByte;
  };
}

/** A mix that is louder than this is not looked at: that costs as much as decoding. */
const quietMixDb = -30;
/** So much quieter than its loudest channel is no mix by chance. */
const canceledDb = 9;

/**
 * Channels that are the same but for their sign cancel each other in a mix, as when a plug is wired wrongly.
 * @param mix of all channels of this track
 * @returns the loudest channel, from 1, where the mix is far below it
 */
async function louderChannel(
  { input, track = 0, timeLimitMs, signal }: SamplesOptions,
  header: FileHeader,
  mix: Loudness,
): Promise<number | undefined> {
  if (header.tracks[track]?.isMono !== false || mix.levelDb > quietMixDb) return undefined;
  const levels = new Map<number, number>();
  let channel = 0;
  await runFfmpeg({
    ...{ input, timeLimitMs, stream: `0:a:${track}`, ...(signal && { signal }) },
    outputArgs: ['-af', 'astats=measure_perchannel=RMS_level:measure_overall=none', '-f', 'null', '-'],
    onInfo(message) {
      channel = Number(/^Channel: (\d+)$/.exec(message)?.[1] ?? channel);
      const level = /^RMS level dB: (-?\d+\.\d+)$/.exec(message)?.[1];
      // Where the number of channels changes inside the file, it is said of each part.
      if (level !== undefined) levels.set(channel, Math.max(Number(level), levels.get(channel) ?? -Infinity));
    },
  });
  const [loudest] = [...levels].toSorted(([, one], [, other]) => other - one);
  // A mix of n channels of which one alone is heard has the n-th part of its height.
  const dilutedDb = 20 * Math.log10(levels.size);
  return loudest !== undefined && loudest[1] - dilutedDb - canceledDb > mix.meanDb ? loudest[0] : undefined;
}

/**
 * How much less may be decoded than is said. Headers, priming and padding of codecs make decoded audio shorter: by 0.2 s
 * at most over all files of the tests. The auditor has the same tolerance.
 */
export const toleranceMs = (saidMs: number): number => saidMs * 0.01 + 1000;

/** Formats of one track whose header counts samples, or frames, and whose packets have no times of their own. */
const counting = new Set(['mp3', 'flac', 'aiff', 'tta', 'ape', 'wv', 'w64']);

/**
 * Whether a file ends before its own header says. What no header says is not known.
 * @param decodedMs how much of it was there
 */
async function isTruncated(path: string, header: FileHeader, decodedMs: number): Promise<boolean> {
  const { format, durationMs, endsEarly } = header;
  if (endsEarly) return true;
  if (counting.has(format) && durationMs !== undefined) return decodedMs < durationMs - toleranceMs(durationMs);
  await using file = await open(path);
  const promised = await promisedBytes(file);
  return promised !== undefined && (await file.stat()).size + carelessBytes < promised;
}

/** Sizes from here on stand for "not known" in files that were written to a pipe: 0x7ffff000, 0xffffffff. */
const unknownBytes = 0x7fff_0000;
/** Some programs forget a chunk of their own, or count the header twice. */
const carelessBytes = 1024;

/** How long a file is, as its first bytes say. */
async function promisedBytes(file: FileHandle): Promise<number | undefined> {
  const read = async (at: number): Promise<Buffer> => {
    const head = Buffer.alloc(24);
    if (Number.isSafeInteger(at)) await file.read(head, 0, head.length, at);
    return head;
  };
  const head = await read(0);
  if (head.toString('latin1', 0, 4) === 'RIFF') return riffBytes(head);
  if (head.toString('latin1', 0, 4) === 'caff') return cafBytes(read);
  return head.toString('hex', 0, 16) === asfHeader ? asfBytes(head, read) : undefined;
}

/** WAV and AVI (RIFF; Multimedia Programming Interface and Data Specifications, 1991). */
function riffBytes(head: Buffer): number | undefined {
  const bytes = head.readUInt32LE(4);
  return bytes >= unknownBytes ? undefined : 8 + bytes;
}

const asfHeader = '3026b2758e66cf11a6d900aa0062ce6c';

/** WMA and WMV: a header, and behind it the data (Advanced Systems Format, 2004). While it is written, the data have no size. */
async function asfBytes(head: Buffer, read: (at: number) => Promise<Buffer>): Promise<number> {
  const headerBytes = Number(head.readBigUInt64LE(16));
  return headerBytes + Number((await read(headerBytes)).readBigUInt64LE(16));
}

const mostCafChunks = 100;

/** Chunks, each with its length (Apple Core Audio Format Specification). While they are written, the data have the length -1. */
async function cafBytes(read: (at: number) => Promise<Buffer>): Promise<number | undefined> {
  let at = 8;
  for (let chunk = 0; chunk < mostCafChunks; chunk += 1) {
    const head = await read(at);
    const bytes = Number(head.readBigInt64BE(4));
    if (bytes < 0) return undefined;
    at += 12 + bytes;
    if (head.toString('latin1', 0, 4) === 'data') return at;
  }
  return undefined;
}
