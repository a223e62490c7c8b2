/** Whether a file ends before its own header says. What no header says is not known. */
import { open } from 'node:fs/promises';
import { toleranceMs } from './tolerance.ts';
import type { FileHeader } from './ffmpeg-log.ts';

/** Formats of one track whose header counts samples, or frames, and whose packets have no times of their own. */
const counting = new Set(['mp3', 'flac', 'aiff', 'tta', 'ape', 'wv', 'w64']);

/** @param decodedMs how much of it was there */
export async function isTruncated(path: string, header: FileHeader, decodedMs: number): Promise<boolean> {
  const { format, durationMs, endsEarly } = header;
  if (endsEarly) return true;
  if (counting.has(format) && durationMs !== undefined) return decodedMs < durationMs - toleranceMs(durationMs);
  return endsBeforeItsRiff(path);
}

/** Sizes from here on stand for "not known" in files that were written to a pipe: 0x7ffff000, 0xffffffff. */
const unknownBytes = 0x7fff_0000;
/** Some programs forget a chunk of their own, or count the header twice. */
const carelessBytes = 1024;

/** WAV and AVI begin with their length (RIFF; Multimedia Programming Interface and Data Specifications, 1991). */
async function endsBeforeItsRiff(path: string): Promise<boolean> {
  await using file = await open(path);
  const head = Buffer.alloc(8);
  await file.read(head, 0, head.length, 0);
  const bytes = head.readUInt32LE(4);
  if (head.toString('latin1', 0, 4) !== 'RIFF' || bytes >= unknownBytes) return false;
  return (await file.stat()).size + carelessBytes < 8 + bytes;
}
