import { openAsBlob } from 'node:fs';
import { bytesPerMs, endsTooEarly } from '../../audio/samples.ts';
import { wavHeader } from '../../audio/wav-header.ts';
import type { Piece } from '../../audio/pieces.ts';

/**
 * What a piece hears. Nothing is read before it is sent, and nothing of it is kept in memory.
 * @param file 16 kHz mono s16le
 * @param shortestMs with less, silence comes after it
 * @throws {Error} the file is shorter than the piece says
 */
export async function toWav(file: string, { windowStartMs, windowEndMs }: Piece, shortestMs: number): Promise<File> {
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
