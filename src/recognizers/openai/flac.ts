import { killedBy, runChild } from '../../children/child.ts';
import { bytesPerMs, openPiece, samplesPerMs } from '../../audio/samples.ts';
import type { FileHandle } from 'node:fs/promises';
import type { ChildEnd } from '../../children/child.ts';
import type { Piece } from '../../audio/pieces.ts';

const limits = { memoryBytes: 1024 ** 3, cpuSeconds: 120, fileBytes: 0, openFiles: 64 };
const timeLimitMs = 120_000;

/**
 * Compresses what a piece hears to FLAC. It is kept in memory, because ffmpeg 5.1 exits with 0 when a disk has no room
 * for the end of a file.
 * @param file 16 kHz mono s16le
 * @throws {ExecutableNotFound}
 * @throws {ChildNotStarted}
 * @throws {Error} ffmpeg failed, or the disk is full
 * @throws the abort reason of `signal`
 */
export async function toFlac(file: string, piece: Piece, signal: AbortSignal): Promise<File> {
  await using samples = await openPiece(file, piece);
  const heardMs = piece.windowEndMs - piece.windowStartMs;
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
    onStdout(chunk) {
      bytes += chunk.length;
      if (bytes > mostBytes) throw new Error('there is no end of the compressed audio');
      chunks.push(chunk);
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
