/** Decoding that is sure of its end: audio much shorter than measured is either damaged, or trouble of ours. */
import { createReadStream } from 'node:fs';
import { AudioToolError } from './audio-error.ts';
import { decodeAudio } from './decode.ts';
import { unreadable } from './ffmpeg.ts';
import type { DecodeOptions } from './decode.ts';
import type { Silence } from './silences.ts';

export interface WholeAudio {
  durationMs: number;
  silences: Silence[];
  /** Much shorter than measured, and found so twice: the file is damaged. */
  isConfirmedShort: boolean;
}

/** Headers, priming and padding of codecs make less: 0.2 s over all files of the tests. The auditor has the same. */
const toleranceMs = (measuredMs: number) => measuredMs * 0.01 + 1000;

/**
 * As `decodeAudio`. ffmpeg takes an error of the disk that it reads from for the end of the file, with exit code 0: where
 * less comes out than was measured, the file is read through, and decoded once more. Damage is the same every time.
 * @param measuredMs null where it is not known
 * @throws {AudioToolError} also when the file can't be read to its end, or decodes to two lengths
 */
export async function decodeWhole(options: DecodeOptions, measuredMs: number | null): Promise<WholeAudio> {
  const first = await decodeAudio(options);
  const isShort = measuredMs !== null && first.durationMs < measuredMs - toleranceMs(measuredMs);
  if (!isShort) return { ...first, isConfirmedShort: false };
  await readThrough(options.input).catch(unreadable);
  const again = await decodeAudio(options);
  if (again.durationMs === first.durationMs) return { ...again, isConfirmedShort: true };
  throw new AudioToolError(`decoded to ${first.durationMs} ms, and then to ${again.durationMs} ms`);
}

async function readThrough(file: string): Promise<void> {
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) void chunk;
}
