import { randomUUID } from 'node:crypto';
import { open, readFile, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { runChild } from '../../children/child.ts';
import { bytesPerMs, openPiece } from '../../audio/samples.ts';
import type { FileHandle } from 'node:fs/promises';
import type { ChildEnd } from '../../children/child.ts';
import type { Piece } from '../../audio/pieces.ts';

/** -60 dB, as samples of s16le. Whisper makes up words for digital silence, and servers want to be paid for it. */
const inaudible = 33;

/** OpenAI refuses less than 0.1 s, and whisper.cpp hears nothing in less than a second. */
const shortestSeconds = 1.1;

const limits = { memoryBytes: 1024 ** 3, cpuSeconds: 120, openFiles: 64 };
const timeLimitMs = 120_000;

/**
 * What a piece hears as a FLAC file: lossless, about half the size, and read by every server. Shorter ones get silence at
 * their end.
 * @param file 16 kHz mono s16le
 * @returns undefined when there is nothing to be heard in it
 * @throws {ExecutableNotFound}
 * @throws {ChildNotStarted}
 * @throws {Error} ffmpeg failed, or the disk is full
 * @throws the abort reason of `signal`
 */
export async function toFlac(file: string, piece: Piece, signal: AbortSignal): Promise<File | undefined> {
  await using samples = await openPiece(file, piece);
  if (await isInaudible(samples)) return undefined;
  // To a file and not to a pipe: ffmpeg goes back to write the length, and some servers can't read FLAC without it.
  const output = `${file}.${randomUUID()}`;
  try {
    await (await open(output, 'wx', 0o600)).close();
    const pcmBytes = (piece.heardToMs - piece.heardFromMs) * bytesPerMs;
    const end = await runChild('ffmpeg', ffmpegArgs(output), {
      // What can't be compressed grows by a few bytes for each block.
      limits: { ...limits, fileBytes: 256 * 1024 + Math.ceil(pcmBytes * 1.05) },
      timeLimitMs,
      signal,
      stdin: samples,
    });
    throwUnlessFinished(end);
    return new File([await readFile(output)], 'audio.flac', { type: 'audio/flac' });
  } finally {
    await rm(output, { force: true });
  }
}

async function isInaudible(samples: FileHandle): Promise<boolean> {
  const chunk = Buffer.alloc(256 * 1024);
  for (let position = 0; ;) {
    const { bytesRead } = await samples.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return true;
    for (let at = 0; at + 1 < bytesRead; at += 2) if (Math.abs(chunk.readInt16LE(at)) >= inaudible) return false;
    position += bytesRead;
  }
}

function ffmpegArgs(output: string): string[] {
  return [
    ...['-hide_banner', '-nostdin', '-loglevel', 'error', '-protocol_whitelist', 'file', '-threads', '1'],
    // Opened anew, so that it is read from its beginning.
    ...['-f', 's16le', '-ar', '16000', '-ac', '1', '-i', 'file:/dev/stdin'],
    ...['-af', `apad=whole_dur=${shortestSeconds}`, '-c:a', 'flac', '-f', 'flac', '-y', `file:${resolve(output)}`],
  ];
}

function throwUnlessFinished(end: ChildEnd): void {
  if (end.how === 'exited' && end.code === 0) return;
  const how = end.how === 'exited' ? `exit code ${end.code}` : end.how === 'killed' ? end.by : 'its time limit';
  throw new Error(`ffmpeg could not compress the audio (${how}): ${end.stderr.trim()}`);
}
