/** What a server gets of a recording. */
import { openAsBlob } from 'node:fs';
import { open } from 'node:fs/promises';
import { BlockList, isIP } from 'node:net';
import { bytesPerMs, endsTooEarly, openChunk, samplesPerMs, wavHeader } from '../../audio/samples.ts';
import { killedBy, runChild } from '../../children/child.ts';
import type { FileHandle } from 'node:fs/promises';
import type { Chunk } from '../../audio/chunks.ts';
import type { ChildEnd } from '../../children/child.ts';

/**
 * -60 dB, as samples of s16le. Quieter audio is not sent: Whisper makes up words for digital silence, and servers
 * charge for it.
 */
const inaudible = 33;

/** OpenAI refuses less than 0.1 s, and whisper.cpp hears nothing in less than a second. */
const shortestMs = 1_100;

/** To compress it takes longer than to send it. */
const notWorthCompressingMs = 10_000;

/**
 * FLAC has about half the size of WAV, and costs a hundred times the processor time. Both lose nothing, and every
 * server reads them.
 * @param file 16 kHz mono s16le
 * @param isNear whether the server is on this machine or in its network
 * @returns undefined when there is nothing to be heard
 * @throws what `toFlac` and `toWav` throw
 */
export async function encodeChunk(
  file: string,
  chunk: Chunk,
  isNear: boolean,
  signal: AbortSignal,
): Promise<File | undefined> {
  if (await isInaudible(file, chunk)) return undefined;
  const isWav = isNear || chunk.windowEndMs - chunk.windowStartMs <= notWorthCompressingMs;
  return isWav ? toWav(file, chunk, shortestMs) : toFlac(file, chunk, signal);
}

async function isInaudible(file: string, { windowStartMs, windowEndMs }: Chunk): Promise<boolean> {
  await using samples = await open(file);
  const buffer = Buffer.alloc(256 * 1024);
  const endAt = windowEndMs * bytesPerMs;
  for (let position = windowStartMs * bytesPerMs; position < endAt;) {
    const { bytesRead } = await samples.read(buffer, 0, Math.min(buffer.length, endAt - position), position);
    if (bytesRead === 0) return false;
    for (let at = 0; at + 1 < bytesRead; at += 2) if (Math.abs(buffer.readInt16LE(at)) >= inaudible) return false;
    position += bytesRead;
  }
  return true;
}

/**
 * What a chunk hears. Nothing is read before it is sent, and nothing of it is kept in memory.
 * @param file 16 kHz mono s16le
 * @param shortestMs with less, silence comes after it
 * @throws {Error} the file is shorter than the chunk says
 */
async function toWav(file: string, { windowStartMs, windowEndMs }: Chunk, shortestMs: number): Promise<File> {
  const samples = (await openAsBlob(file)).slice(windowStartMs * bytesPerMs, windowEndMs * bytesPerMs);
  if (samples.size !== (windowEndMs - windowStartMs) * bytesPerMs) throw endsTooEarly(file);
  const silence = new Uint8Array(Math.max(0, shortestMs * bytesPerMs - samples.size));
  return wavOf([samples, silence], samples.size + silence.length, 'audio.wav');
}

/** A second of silence as a WAV file: 16 kHz, mono, 16 bits. */
export const aSecondOfSilence = (): File =>
  wavOf([new Uint8Array(1000 * bytesPerMs)], 1000 * bytesPerMs, 'silence.wav');

const wavOf = (samples: (Blob | Uint8Array<ArrayBuffer>)[], bytes: number, name: string) =>
  new File([new Uint8Array(wavHeader(bytes)), ...samples], name, { type: 'audio/wav' });

const limits = { memoryBytes: 1024 ** 3, cpuSeconds: 120, fileBytes: 0, openFiles: 64 };
const timeLimitMs = 120_000;

/**
 * Compresses what a chunk hears to FLAC. It is kept in memory, because ffmpeg 5.1 exits with 0 when a disk has no room
 * for the end of a file.
 * @param file 16 kHz mono s16le
 * @throws {ExecutableNotFound}
 * @throws {ChildNotStarted}
 * @throws {Error} ffmpeg failed, or the disk is full
 * @throws the abort reason of `signal`
 */
async function toFlac(file: string, chunk: Chunk, signal: AbortSignal): Promise<File> {
  await using samples = await openChunk(file, chunk);
  const heardMs = chunk.windowEndMs - chunk.windowStartMs;
  const flac = await compress(samples, heardMs, signal);
  return new File([withLength(flac, heardMs)], 'audio.flac', { type: 'audio/flac' });
}

async function compress(samples: FileHandle, heardMs: number, signal: AbortSignal): Promise<Buffer<ArrayBuffer>> {
  // Samples that can't be compressed grow by a few bytes for each block.
  const mostBytes = 256 * 1024 + heardMs * bytesPerMs * 1.05;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const end = await runChild('ffmpeg', ffmpegArgs, {
    limits,
    timeLimitMs,
    signal,
    stdin: samples,
    onStdout(buffer) {
      bytes += buffer.length;
      if (bytes > mostBytes) throw new Error('there is no end of the compressed audio');
      chunks.push(buffer);
    },
  });
  throwUnlessFinished(end);
  return Buffer.concat(chunks);
}

/** Where the number of samples stands: in the 36 bits before the checksum of STREAMINFO (RFC 9639, section 8.2). */
const lengthAt = 22;

/**
 * Writes the number of samples. ffmpeg can't go back in a pipe to write it, and some servers can't read FLAC without
 * it.
 */
function withLength(flac: Buffer<ArrayBuffer>, durationMs: number): Buffer<ArrayBuffer> {
  if (flac.toString('latin1', 0, 4) !== 'fLaC') throw new Error('ffmpeg made no FLAC');
  flac.writeUInt32BE(durationMs * samplesPerMs, lengthAt);
  return flac;
}

const ffmpegArgs = [
  ...['-hide_banner', '-nostdin', '-loglevel', 'error', '-protocol_whitelist', 'file,pipe', '-threads', '1'],
  // ffmpeg opens it anew and reads it from its beginning.
  ...['-f', 's16le', '-ar', '16000', '-ac', '1', '-i', 'file:/dev/stdin'],
  ...['-c:a', 'flac', '-f', 'flac', 'pipe:1'],
];

function throwUnlessFinished(end: ChildEnd): void {
  if (end.how === 'exited' && end.code === 0) return;
  if (end.how === 'killed') throw killedBy('ffmpeg', end.by);
  const how = end.how === 'exited' ? `exit code ${end.code}` : 'its time limit';
  throw new Error(`ffmpeg could not compress the audio (${how}): ${end.stderr.trim()}`);
}

/** RFC 1918, 6598, 3927 and 4193; this machine. */
const near = new BlockList();
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
] as const)
  near.addSubnet(network, prefix, 'ipv4');
near.addAddress('::1', 'ipv6');
near.addSubnet('fc00::', 7, 'ipv6');
near.addSubnet('fe80::', 10, 'ipv6');

/** Whether an address is of this machine or of a private network, as its name or number tells. */
export function isNear(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  const version = isIP(host);
  if (version !== 0) return near.check(host, version === 4 ? 'ipv4' : 'ipv6');
  return !host.includes('.') || /\.(localhost|local|internal|lan|home\.arpa)$/.test(host);
}
