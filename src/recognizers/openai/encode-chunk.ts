/** What a server gets of a recording. */
import { openAsBlob } from 'node:fs';
import { open } from 'node:fs/promises';
import { bytesPerMs, endsTooEarly, wavHeader } from '../../audio/samples.ts';
import type { Chunk } from '../../audio/chunks.ts';

/**
 * -60 dB, as samples of s16le. Quieter audio is not sent: Whisper makes up words for digital silence, and servers
 * charge for it.
 */
const inaudible = 33;

/** OpenAI refuses less than 0.1 s, and whisper.cpp hears nothing in less than a second. After less comes silence. */
const shortestMs = 1_100;

type Heard = Pick<Chunk, 'windowStartMs' | 'windowEndMs'>;

/**
 * What a chunk hears, as WAV, which every server reads. Nothing is read before it is sent, and nothing of it is kept in
 * memory.
 * @param file 16 kHz mono s16le
 * @returns undefined when there is nothing to be heard
 * @throws {Error} the file is shorter than the chunk says
 */
export async function encodeChunk(file: string, chunk: Heard): Promise<File | undefined> {
  if (await isInaudible(file, chunk)) return undefined;
  const { windowStartMs, windowEndMs } = chunk;
  const samples = (await openAsBlob(file)).slice(windowStartMs * bytesPerMs, windowEndMs * bytesPerMs);
  if (samples.size !== (windowEndMs - windowStartMs) * bytesPerMs) throw endsTooEarly(file);
  const silence = new Uint8Array(Math.max(0, shortestMs * bytesPerMs - samples.size));
  return wavOf([samples, silence], samples.size + silence.length, 'audio.wav');
}

async function isInaudible(file: string, { windowStartMs, windowEndMs }: Heard): Promise<boolean> {
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

/** A second of silence as a WAV file: 16 kHz, mono, 16 bits. */
export const aSecondOfSilence = (): File =>
  wavOf([new Uint8Array(1000 * bytesPerMs)], 1000 * bytesPerMs, 'silence.wav');

const wavOf = (samples: (Blob | Uint8Array<ArrayBuffer>)[], bytes: number, name: string) =>
  new File([new Uint8Array(wavHeader(bytes)), ...samples], name, { type: 'audio/wav' });
