import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { AudioToolError, audioTooLong } from './audio-error.ts';
import { decodeSamples, mixingAlike } from './decode-samples.ts';
import { isTruncated, toleranceMs } from './whole.ts';
import { unreadable, runFfmpeg } from './ffmpeg.ts';
import { LoudnessMeter, loudnessOf } from './loudness.ts';
import { chooseTrack } from './tracks.ts';
import { allGapsOf } from './picture.ts';
import { DependencyError } from '../ops/dependency-error.ts';
import { bytesPerMs, bytesPerSample, samplesPerMs } from './samples.ts';
import { overlapping } from './spans.ts';
import type { Decoding, SamplesOptions } from './decode-samples.ts';
import type { Track } from './ffmpeg-log.ts';
import type { Loudness } from './loudness.ts';
import type { Span } from './spans.ts';
import type { Gap } from './timeline.ts';

export interface DecodeOptions extends Omit<SamplesOptions, 'gainDb'> {
  /** Where the samples go; overwritten. */
  output: string;
  /** Where its samples are made silent, in order, without the gaps of the recording. */
  silenced?: readonly Span[] | undefined;
}

export interface Decoded {
  /** The length of what was written. */
  durationMs: number;
  silences: Span[];
  warnings: AudioWarning[];
  tracks: readonly Track[];
  /** ffmpeg is known to decode such files wrongly. */
  isDoubtful: boolean;
}

/** What makes the transcript of a recording less than it could be, as far as the audio tells. */
export type AudioWarning = 'truncated' | 'quiet' | 'clipped' | 'narrowband' | 'other_tracks_ignored';

/**
 * Decodes an audio stream to a raw file of 16 kHz mono s16le without header. Samples are written to disk as they come.
 * What is found out at the end makes it decode once more: gaps are filled with silence, channels that cancel each other are
 * turned round, what is too high for 16 bits is made lower, and what is very quiet is made louder. After an error a part of
 * the output may exist; the caller removes its folder.
 * @throws what `decodeSamples` throws
 * @throws {AudioToolError} disk full
 */
export async function decodeAudio(options: DecodeOptions): Promise<Decoded> {
  let manner: WriteOptions = options;
  let written = await mixingAlike(manner, (all) => writeSamples((manner = all)));
  const again = async (change: Partial<WriteOptions>): Promise<void> => {
    manner = { ...manner, ...change };
    written = await writeSamples(manner);
  };
  const { header } = written;
  const track = header.tracks[options.track ?? 0];
  const { gaps } = await allGapsOf(options, header, written.times);
  if (gaps.length > 0) await again({ gaps });
  if (await isCanceled(manner, track, written.loudness)) await again({ channels: track?.channels, isTurned: true });
  if (written.loudness.isClipped && /^pcm_f/.test(track?.codec ?? ''))
    await again({ gainDb: -(await peakDb(options)) });
  const { isClipped } = written.loudness;
  const gainDb = gainFor(await finely(manner, track, written.loudness));
  if (gainDb > 0) await again({ gainDb });

  const { durationMs, loudness } = written;
  const warnings: Record<AudioWarning, boolean> = {
    truncated: await isTruncated(options.input, header, durationMs).catch(unreadable),
    // A voice in one of many channels is quiet in their mix only.
    quiet: gainDb > 0 && gainDb >= usualDb - quietDb + 20 * Math.log10(manner.channels ?? 1),
    clipped: isClipped,
    narrowband: isNarrowband(track),
    other_tracks_ignored: header.tracks.length > 1,
  };
  const told = (Object.keys(warnings) as AudioWarning[]).filter((code) => warnings[code]);
  const isDoubtful = header.format === 'wav' && /^(aac|speex)$/.test(track?.codec ?? '');
  return { durationMs, silences: loudness.silences, warnings: told, tracks: header.tracks, isDoubtful };
}

export interface WholeAudio extends Decoded {
  /** The audio was much shorter than measured both times: the file is damaged. */
  isConfirmedShort: boolean;
  /** Its place among the audio streams, from 0. */
  track: number;
}

/**
 * Decodes the track that is to be transcribed, as `decodeAudio` does, and makes sure that all of it was decoded: audio that
 * is much shorter than measured is either damaged or lost by our fault.
 * @param measuredMs of the first track; null where it is not known
 * @throws {AudioToolError} also when the file can't be read to its end, or is decoded to two lengths
 */
export async function decodeWhole(options: DecodeOptions, measuredMs: number | null): Promise<WholeAudio> {
  const first = await decodeTrack(options, measuredMs);
  if (options.track !== undefined || first.tracks.length < 2) return first;
  const track = (await chooseTrack(options, first.tracks)) ?? 0;
  return track === 0 ? first : decodeTrack({ ...options, track }, measuredMs);
}

/**
 * Decodes one track as `decodeAudio` does. ffmpeg takes a read error of the disk for the end of the file and exits with 0. So
 * when less was decoded than was measured, the file is read to its end and decoded once more. Damage gives the same
 * length both times.
 */
async function decodeTrack(options: DecodeOptions, measuredMs: number | null): Promise<WholeAudio> {
  const first = { ...(await decodeAudio(options)), track: options.track ?? 0 };
  const isShort = measuredMs !== null && first.durationMs < measuredMs - toleranceMs(measuredMs);
  if (!isShort) return { ...first, isConfirmedShort: false };
  await readThrough(options.input).catch(unreadable);
  const again = await decodeAudio(options);
  if (again.durationMs === first.durationMs) return { ...first, isConfirmedShort: true };
  throw new AudioToolError(`decoded to ${first.durationMs} ms, and then to ${again.durationMs} ms`);
}

async function readThrough(file: string): Promise<void> {
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) void chunk;
}

/** Sampled 8,000 times a second, as telephones do, it has nothing above 4 kHz. */
const isNarrowband = (track: Track | undefined): boolean =>
  track !== undefined && track.sampleRate > 0 && track.sampleRate <= 8_000;

type WriteOptions = SamplesOptions & Pick<DecodeOptions, 'output' | 'silenced'> & { gaps?: readonly Gap[] | undefined };

async function writeSamples({
  output,
  silenced = [],
  gaps = [],
  ...options
}: WriteOptions): Promise<Decoding & { loudness: Loudness }> {
  // The file holds what people said, so no other user may read it, whatever the umask is.
  await using file = await open(output, 'w', 0o600).catch(unwritable);
  const meter = new LoudnessMeter();
  let bytes = 0;
  const silence = silencing(silenced);
  const fill = filling(gaps, async (samples) => {
    bytes += samples.length;
    if (Math.floor(bytes / bytesPerMs) > options.maxDurationMs) throw audioTooLong(options.maxDurationMs);
    meter.push(samples);
    // Unlike `write`, `writeFile` goes on when a nearly full disk took only a part.
    await file.writeFile(samples).catch(unwritable);
  });
  const decoded = await decodeSamples(options, async (samples) => {
    silence(samples);
    await fill(samples);
  });
  // Some file systems report a full disk only when the file is closed.
  await file.close().catch(unwritable);
  return { ...decoded, durationMs: Math.floor(bytes / bytesPerMs), loudness: meter.end() };
}

const noSound = Buffer.alloc(1024 * 1024);

/**
 * Fills the gaps of a recording with silence.
 * @returns takes its samples as they come, and has them written
 */
function filling(gaps: readonly Gap[], write: (samples: Buffer) => Promise<void>): (samples: Buffer) => Promise<void> {
  let [atByte, next] = [0, 0];
  return async (samples) => {
    const endByte = atByte + samples.length;
    for (; next < gaps.length && toBytes(gaps[next]!.atMs) < endByte; next += 1) {
      const gapByte = toBytes(gaps[next]!.atMs);
      await write(samples.subarray(samples.length - (endByte - atByte), samples.length - (endByte - gapByte)));
      atByte = gapByte;
      for (let left = toBytes(gaps[next]!.gapMs); left > 0; left -= noSound.length)
        await write(noSound.subarray(0, left));
    }
    await write(samples.subarray(samples.length - (endByte - atByte)));
    atByte = endByte;
  };
}

/** Of whole samples. */
const toBytes = (ms: number): number => Math.round(ms * samplesPerMs) * bytesPerSample;

/**
 * The error for samples that can't be written (for example because their folder is gone). The audio is not at fault.
 */
function unwritable(error: Error): never {
  const cause = new DependencyError(error.message, { cause: error });
  throw new AudioToolError('the decoded audio could not be written', { cause });
}

/** Models bear what is louder than this. Moonshine loses words from -70 dB on, and the rules for silence from -50 dB on. */
const quietDb = -40;
/** A usual level of speech, whose peaks have room above it. */
const usualDb = -26;
/** Between words, a voice is at least so much quieter. The noise of an empty room is steady. */
const leastRangeDb = 10;

/** Below, 16 bits have too little of a voice to measure it. */
const faintDb = -70;
/** So much louder, all that is finer than 16 bits can be measured. */
const fineDb = 60;

/** How loud a recording is that is nearly or wholly below 16 bits. */
async function finely(options: SamplesOptions, track: Track | undefined, loudness: Loudness): Promise<Loudness> {
  if (loudness.levelDb > faintDb || track?.isFine !== true) return loudness;
  const { levelDb, floorDb, ...rest } = await loudnessOf({ ...options, gainDb: fineDb });
  return { ...rest, levelDb: levelDb - fineDb, floorDb: floorDb - fineDb };
}

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
  let atMs = 0;
  return (samples) => {
    const place = { startMs: atMs, endMs: atMs + samples.length / bytesPerMs };
    for (const { startMs, endMs } of overlapping(stretches, place))
      samples.fill(0, (startMs - place.startMs) * bytesPerMs, (endMs - place.startMs) * bytesPerMs);
    atMs = place.endMs;
  };
}

/** A mix that is louder than this is not looked at: that costs as much as decoding. */
const quietMixDb = -30;
/** So much quieter than with every other channel turned round is no mix by chance. */
const canceledDb = 9;

/** Whether channels cancel each other in a mix, being the same but for their sign, as when a plug is wired wrongly. */
async function isCanceled(options: SamplesOptions, track: Track | undefined, mix: Loudness): Promise<boolean> {
  const channels = track?.channels ?? 1;
  if (options.channel !== undefined || channels < 2 || mix.levelDb > quietMixDb) return false;
  return (await loudnessOf({ ...options, channels, isTurned: true })).levelDb - canceledDb > mix.levelDb;
}

/** Samples in floating point may be higher than full scale, by far where they are counted as whole numbers. */
async function peakDb({ input, track = 0, timeLimitMs, signal }: SamplesOptions): Promise<number> {
  let peak = 0;
  await runFfmpeg({
    ...{ input, timeLimitMs, stream: `0:a:${track}`, ...(signal && { signal }) },
    outputArgs: ['-af', 'astats=measure_perchannel=none:measure_overall=Peak_level', '-f', 'null', '-'],
    // Where the number of channels changes inside the file, it is said of each part.
    onInfo: (message) => void (peak = Math.max(peak, Number(/^Peak level dB: (\d+\.\d+)$/.exec(message)?.[1] ?? 0))),
  });
  return peak;
}
