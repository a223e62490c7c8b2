/** Whether a file ends before its own header says. What no header says is not known. */
import { open } from 'node:fs/promises';
import { toleranceMs } from './tolerance.ts';
import type { FileHandle } from 'node:fs/promises';
import type { FileHeader } from './ffmpeg-log.ts';

/** Formats of one track whose header counts samples, or frames, and whose packets have no times of their own. */
const counting = new Set(['mp3', 'flac', 'aiff', 'tta', 'ape', 'wv', 'w64']);

/** @param decodedMs how much of it was there */
export async function isTruncated(path: string, header: FileHeader, decodedMs: number): Promise<boolean> {
  const { format, durationMs, endsEarly } = header;
  if (endsEarly) return true;
  if (counting.has(format) && durationMs !== undefined) return decodedMs < durationMs - toleranceMs(durationMs);
  await using file = await open(path);
  const promised = await promisedBytes(file);
  return promised !== undefined && (await file.stat()).size + carelessBytes < promised;
}

/** Sizes from here on stand for "not known" in files that were written to a pipe: 0x7ffff000, 0xffffffff. */
const unknownBytes = 0x7fff_0000;
/** Some programs forget a chunk of their own, or count the header twice. */
const carelessBytes = 1024;

/** How long a file is, as its first bytes say. */
async function promisedBytes(file: FileHandle): Promise<number | undefined> {
  const read = async (at: number): Promise<Buffer> => {
    const head = Buffer.alloc(24);
    if (Number.isSafeInteger(at)) await file.read(head, 0, head.length, at);
    return head;
  };
  const head = await read(0);
  if (head.toString('latin1', 0, 4) === 'RIFF') return riffBytes(head);
  if (head.toString('latin1', 0, 4) === 'caff') return cafBytes(read);
  return head.toString('hex', 0, 16) === asfHeader ? asfBytes(head, read) : undefined;
}

/** WAV and AVI (RIFF; Multimedia Programming Interface and Data Specifications, 1991). */
function riffBytes(head: Buffer): number | undefined {
  const bytes = head.readUInt32LE(4);
  return bytes >= unknownBytes ? undefined : 8 + bytes;
}

const asfHeader = '3026b2758e66cf11a6d900aa0062ce6c';

/** WMA and WMV: a header, and behind it the data (Advanced Systems Format, 2004). While it is written, the data have no size. */
async function asfBytes(head: Buffer, read: (at: number) => Promise<Buffer>): Promise<number> {
  const headerBytes = Number(head.readBigUInt64LE(16));
  return headerBytes + Number((await read(headerBytes)).readBigUInt64LE(16));
}

const mostCafChunks = 100;

/** Chunks, each with its length (Apple Core Audio Format Specification). While they are written, the data have the length -1. */
async function cafBytes(read: (at: number) => Promise<Buffer>): Promise<number | undefined> {
  let at = 8;
  for (let chunk = 0; chunk < mostCafChunks; chunk += 1) {
    const head = await read(at);
    const bytes = Number(head.readBigInt64BE(4));
    if (bytes < 0) return undefined;
    at += 12 + bytes;
    if (head.toString('latin1', 0, 4) === 'data') return at;
  }
  return undefined;
}
