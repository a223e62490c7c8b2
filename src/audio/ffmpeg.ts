import { access, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { AudioError, AudioToolError } from './audio-error.ts';
import { ChildNotStarted, killedBy, runChild } from '../children/child.ts';
import { ExecutableNotFound } from '../children/bounded-command.ts';
import { FfmpegLog } from './ffmpeg-log.ts';
import { DependencyError } from '../ops/dependency-error.ts';
import { isEncrypted } from './whole.ts';
import { readWav } from './plain-wav.ts';
import type { ChildEnd, OnOutput } from '../children/child.ts';
import type { FileHeader } from './ffmpeg-log.ts';

export interface FfmpegRun {
  /** The untrusted file. */
  input: string;
  /** Its first audio stream without this. */
  stream?: `0:a:${number}` | '0:a' | '0:a and 0:V';
  /** What to do with that stream, and where to. */
  outputArgs: readonly string[];
  timeLimitMs: number;
  signal?: AbortSignal;
  /** Its arguments may name no file: ffmpeg writes to its standard output only. */
  onStdout?: OnOutput;
  /** Gets what ffmpeg's filters say. */
  onInfo?: (message: string) => void;
}

/** `stderr` holds its errors only. */
export type FfmpegEnd = ChildEnd & { header: FileHeader };

/**
 * A header can claim any size, so memory is limited. ffmpeg 5.1 needs about 300 MiB of address space to start, for its
 * libraries.
 */
const memoryBytes = 1024 ** 3;

/**
 * Runs ffmpeg on one stream of an untrusted file. ffmpeg can read that one file only and has hard
 * limits. The caller decides what ffmpeg's end means for the file.
 * @throws {AudioToolError} ffmpeg could not run or was stopped from outside, or the input can't be read
 * @throws {AudioError} `no_audio_track`
 * @throws the abort reason of `run.signal`
 */
export async function runFfmpeg(run: FfmpegRun): Promise<FfmpegEnd> {
  const { input, stream = '0:a:0', outputArgs } = run;
  const decoder = await decoderFor(input).catch((error: unknown) => {
    if (error instanceof AudioError) throw error;
    return unreadable(error as NodeJS.ErrnoException);
  });
  const log = new FfmpegLog(run.onInfo);
  const { stderr: _, ...how } = await runChild('ffmpeg', [...inputArgs(input, stream, decoder), ...outputArgs], {
    limits: {
      memoryBytes,
      cpuSeconds: Math.ceil(run.timeLimitMs / 1000),
      fileBytes: 0,
      openFiles: 64,
    },
    timeLimitMs: run.timeLimitMs,
    ...(run.signal && { signal: run.signal }),
    ...(run.onStdout && { onStdout: run.onStdout }),
    onStderr: (chunk) => log.push(chunk),
  }).catch((error: unknown) => {
    if (error instanceof ExecutableNotFound || error instanceof ChildNotStarted) {
      throw new AudioToolError(error.message, { cause: error });
    }
    throw error;
  });
  log.end();
  const end = { ...how, stderr: log.errors, header: log.header };
  if (end.how === 'exited' && end.code !== 0) throwForMessage(end.code, end.stderr);
  if (end.how === 'killed' && end.by === 'SIGKILL') {
    const cause = killedBy('ffmpeg', end.by);
    throw new AudioToolError(cause.message, { cause });
  }
  return end;
}

/**
 * Arguments for the files that ffmpeg would not read as it should.
 * @throws {AudioError} `unsupported_media`: it is encrypted, and ffmpeg would decode noise
 */
async function decoderFor(input: string): Promise<string[]> {
  if (await isEncrypted(input)) throw new AudioError('unsupported_media', 'encrypted');
  const wav = await readWav(input);
  // Otherwise ffmpeg would take a plain WAV for another format, or its samples for compressed audio, if they look like it.
  if (wav !== undefined) return [...(wav.durationMs === undefined ? [] : ['-f', 'wav']), '-c:a', wav.codec];
  // ffmpeg 7.1's own decoder puts as much silence behind each frame of more than 8 kHz as the frame is long.
  return (await isOggSpeex(input)) ? ['-c:a:0', 'libspeex'] : [];
}

function inputArgs(input: string, stream: NonNullable<FfmpegRun['stream']>, decoder: readonly string[]): string[] {
  return [
    ...['-hide_banner', '-nostdin', '-nostats', '-loglevel', '+level+info'],
    // Without these, an upload could make ffmpeg open other files and addresses. `pipe` is for the output.
    ...['-protocol_whitelist', 'file,pipe', '-format_whitelist', formatWhitelist],
    ...['-codec_whitelist', codecWhitelist],
    ...decoder,
    // Otherwise ffmpeg would guess which place each of several microphones has, and take one of them for a subwoofer.
    ...['-guess_layout_max', '2'],
    // One decoder thread: a thread per core would multiply the memory.
    ...['-threads', '1'],
    // Demuxers skip other streams, and pictures are never decoded.
    ...(stream === '0:a and 0:V' ? [] : ['-vn']),
    ...['-sn', '-dn'],
    // `file:` keeps a name with a colon from being read as a protocol.
    ...['-i', `file:${resolve(input)}`],
    ...(stream === '0:a and 0:V' ? ['-map', '0:a', '-map', '0:V?'] : ['-map', stream]),
  ];
}

/**
 * ffmpeg 5.1 exits with 1 for every failure, and later ones with a part of the error's number, so the message decides.
 * Lines about the inside of the file begin with `[`.
 */
function throwForMessage(code: number, stderr: string): void {
  if (/^Stream map .*matches no streams/m.test(stderr)) throw new AudioError('no_audio_track', 'no audio stream');
  const whyNotOpened = /^(?:file:.*|Error opening (?:input|output) files): (.*)$/m.exec(stderr)?.[1];
  // Opening takes little memory unless a header claims gigabytes. Then the file is at fault and would fail again.
  if (whyNotOpened === 'Cannot allocate memory') {
    throw new AudioError('unsupported_media', `a header claims too much: ${lastLine(stderr)}`);
  }
  // After SIGTERM, SIGINT and SIGXCPU, ffmpeg ends as if the file had ended, and its output is incomplete. Later than
  // 5.1, "Operation not permitted" is 255 too, which some demuxers say of a header that they don't take.
  if (code === 255 && whyNotOpened === undefined) throw new AudioToolError('a signal stopped ffmpeg');
  // exec(2) failed after the look-up, or the dynamic linker did.
  if (code === 126 || code === 127) {
    throw new AudioToolError('ffmpeg could not run', { cause: new DependencyError(lastLine(stderr)) });
  }
}

/**
 * Explains why an audio file could not be read. For a `catch`.
 * @throws {AudioToolError} always
 */
export async function unreadable(error: NodeJS.ErrnoException): Promise<never> {
  throw new AudioToolError('the audio file can no longer be read', { cause: await whatIsGone(error) });
}

/** When one file is gone, the file is lost. When its folder is gone too, the disk is not mounted. */
async function whatIsGone(error: NodeJS.ErrnoException): Promise<Error> {
  const folder = error.code === 'ENOENT' && error.path !== undefined ? dirname(error.path) : undefined;
  const isThere = folder === undefined || (await access(folder).then(() => true, () => false)); // prettier-ignore
  return isThere ? error : new DependencyError(`${folder} is gone`, { cause: error });
}

/** The line of ffmpeg's messages that says why it gave up. */
export function lastLine(stderr: string): string {
  return stderr.trimEnd().split('\n').at(-1) ?? '';
}

/**
 * ffmpeg's own audio decoders for the formats that are accepted (below). ffmpeg chooses a decoder by what the
 * file says, and it has unmaintained decoders for video games and experiments. These are left out. So are
 * external libraries (`lib…`), which ffmpeg's own decoders replace, but for libspeex (`decoderFor` says why), and all
 * decoders of pictures and subtitles.
 */
const uncompressed = [
  ...['pcm_s8', 'pcm_u8', 'pcm_s16le', 'pcm_s16be', 'pcm_u16le', 'pcm_u16be', 'pcm_s24le', 'pcm_s24be'],
  ...['pcm_u24le', 'pcm_u24be', 'pcm_s32le', 'pcm_s32be', 'pcm_u32le', 'pcm_u32be', 'pcm_s64le', 'pcm_s64be'],
  ...['pcm_f16le', 'pcm_f24le', 'pcm_f32le', 'pcm_f32be', 'pcm_f64le', 'pcm_f64be', 'pcm_alaw', 'pcm_mulaw'],
  ...['pcm_s8_planar', 'pcm_s16le_planar', 'pcm_s16be_planar', 'pcm_s24le_planar', 'pcm_s32le_planar'],
  ...['pcm_bluray', 'pcm_dvd', 's302m', 'dvaudio', 'dsd_lsbf', 'dsd_msbf', 'dsd_lsbf_planar', 'dsd_msbf_planar', 'dst'],
];

const adaptive = [
  ...['adpcm_ms', 'adpcm_ima_wav', 'adpcm_ima_qt', 'adpcm_yamaha', 'adpcm_swf', 'adpcm_ct', 'g722', 'g726', 'g726le'],
  ...['adpcm_sbpro_2', 'adpcm_sbpro_3', 'adpcm_sbpro_4', 'mace3', 'mace6'],
];

const lossless = [
  'flac',
  'alac',
  'als',
  'ape',
  'tta',
  'wavpack',
  'tak',
  'shorten',
  'mlp',
  'truehd',
  'wmalossless',
  'ralf',
];

const speech = [
  ...['amrnb', 'amrwb', 'gsm', 'gsm_ms', 'speex', 'ilbc', 'g723_1', 'g729', 'qcelp', 'evrc', 'dss_sp', 'truespeech'],
  ...['wmavoice', 'nellymoser', 'sipr', 'real_144', 'real_288', 'siren', 'msnsiren', 'libspeex'],
];

const lossy = [
  ...['mp1', 'mp1float', 'mp2', 'mp2float', 'mp3', 'mp3float', 'mp3adu', 'mp3adufloat', 'mp3on4', 'mp3on4float'],
  ...['aac', 'aac_latm', 'ac3', 'eac3', 'dca', 'opus', 'vorbis', 'mpc7', 'mpc8', 'sbc', 'wmav1', 'wmav2', 'wmapro'],
  ...['xma1', 'xma2', 'cook', 'atrac1', 'atrac3', 'atrac3al', 'atrac3plus', 'atrac3plusal'],
  ...['qdm2', 'qdmc', 'imc', 'iac'],
];

export const codecWhitelist = [...uncompressed, ...adaptive, ...lossless, ...speech, ...lossy].join(',');

/**
 * ffmpeg demuxers that read only the file that they are given. ffmpeg finds the format by the content, whatever the
 * file's name. Other demuxers open files or addresses that an upload names: playlists (hls, dash, imf), scripts
 * (concat, sdp, sbg), pairs of files (vobsub, mlv), numbered images (image2), devices and lavfi. So they are left out.
 */
const audioFormats = [
  ...['wav', 'w64', 'aiff', 'au', 'caf', 'voc', 'nistsphere', 'sox', 'wsd', 'dsf'],
  ...['mp3', 'aac', 'loas', 'ac3', 'eac3', 'dts', 'dtshd', 'truehd', 'mlp'],
  ...['flac', 'ape', 'tta', 'wv', 'tak', 'shn', 'mpc', 'mpc8', 'ogg'],
  ...['amr', 'amrnb', 'amrwb', 'gsm', 'sbc', 'qcp', 'dss', 'ircam', 'oma', 'xwma', 'aa'],
];

const containerFormats = [
  ...['mov', 'mp4', 'm4a', '3gp', '3g2', 'mj2', 'matroska', 'webm', 'avi', 'asf', 'asf_o', 'flv'],
  ...['mpeg', 'mpegts', 'mxf', 'nut', 'rm', 'ivr', 'dv', 'gxf', 'wtv', 'nsv'],
];

/** These are allowed only so that a picture is answered with "no audio track" instead of "unsupported media". */
const pictureFormats = ['png_pipe', 'jpeg_pipe', 'gif', 'webp_pipe', 'bmp_pipe'];

const formatWhitelist = [...audioFormats, ...containerFormats, ...pictureFormats].join(',');

/** The first page of an Ogg file begins with this, and holds the header of its first stream (RFC 3533, section 6). */
const pageMark = 'OggS';
const speexMark = 'Speex   ';
const pageHeaderBytes = 28;

/** Whether the file is Ogg and its first stream is Speex. */
async function isOggSpeex(path: string): Promise<boolean> {
  await using file = await open(path);
  const bytes = Buffer.alloc(pageHeaderBytes + speexMark.length);
  await file.read(bytes, 0, bytes.length, 0);
  const beginning = bytes.toString('latin1');
  return beginning.startsWith(pageMark) && beginning.endsWith(speexMark);
}
