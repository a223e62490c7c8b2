import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/** 16,000 samples per second of two bytes, one channel. */
export const samplesPerMs = 16;
export const bytesPerSample = 2;
export const bytesPerMs = bytesPerSample * samplesPerMs;

/**
 * Copies what a chunk hears into a file of its own. Programs that open `/dev/stdin` can't be given a part of a file,
 * nor a pipe of Node, which is a socket. The file has no name any more, so nothing is left after a crash; closing it
 * frees its room.
 * @param file 16 kHz mono s16le
 * @throws {Error} the disk is full, or the file is shorter than the chunk says
 */
export async function openChunk(
  file: string,
  { windowStartMs, windowEndMs }: { windowStartMs: number; windowEndMs: number },
): Promise<FileHandle> {
  const name = `${file}.${randomUUID()}`;
  const handle = await open(name, 'wx+', 0o600);
  try {
    await rm(name);
    // `end` is inclusive.
    const range = { start: windowStartMs * bytesPerMs, end: windowEndMs * bytesPerMs - 1 };
    // Unlike `write`, `writeFile` goes on when a nearly full disk took only a part.
    await handle.writeFile(createReadStream(file, { ...range, highWaterMark: 1024 * 1024 }));
    if ((await handle.stat()).size !== (windowEndMs - windowStartMs) * bytesPerMs) throw endsTooEarly(file);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The error for decoded audio that has become shorter. Nobody writes to it any more, so its disk lost a part. */
export const endsTooEarly = (file: string): Error => new Error(`${file} ends too early`);

const sampleRate = 16_000;

/** Stands before so many bytes of samples: 16 kHz, mono, s16le. */
export function wavHeader(bytes: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  // PCM, one channel.
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * bytesPerSample, 28);
  header.writeUInt16LE(bytesPerSample, 32);
  header.writeUInt16LE(8 * bytesPerSample, 34);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  return header;
}
