/** Whether a file is all there and can be heard: what its bytes say, and ffmpeg doesn't tell. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHeader } from './ffmpeg-log.ts';

/**
 * How much less may be decoded than is said. Headers, priming and padding of codecs make decoded audio shorter: by 0.2 s
 * at most over all files of the tests. The auditor has the same tolerance.
 */
export const toleranceMs = (saidMs: number): number => saidMs * 0.01 + 1000;

/** Formats that say in their header how long they are. A picture may be longer than its sound. */
const counting = new Set(['mp3', 'flac', 'aiff', 'au', 'tta', 'ape', 'wv', 'rm', 'flv']);
/** Some programs forget a chunk of their own, or count the header twice. */
const carelessBytes = 1024;

/**
 * Whether a file ends before its own header says, or goes on behind the sound that ffmpeg finds, as where two were joined.
 * What no header says is not known.
 * @param decodedMs how much of it was there
 */
export async function isTruncated(path: string, header: FileHeader, decodedMs: number): Promise<boolean> {
  const { format, durationMs, endsEarly, hasPicture } = header;
  if (endsEarly) return true;
  if (counting.has(format) && !hasPicture && durationMs !== undefined)
    return decodedMs < durationMs - toleranceMs(durationMs);
  const names = new Set<string>();
  let isBehindSound = false;
  for await (const { name, format: kind, startsAt, endsAt, size } of chunksOf(path)) {
    const isSound = kind.sound.test(name);
    if (names.has(name) && (isSound ? kind.hasOneSound : kind.first === name)) return true;
    if (isSound && endsAt > size + carelessBytes) return true;
    const isChunk = /^[ -~]{4}/.test(name) && endsAt <= size;
    if (isBehindSound && kind.hasOneSound && !isChunk && size - startsAt > carelessBytes) return true;
    isBehindSound ||= isSound;
    names.add(name);
  }
  return false;
}

interface Format {
  /** The name of its first chunk. */
  first: string;
  /** The chunk with its sound. */
  sound: RegExp;
  /** ffmpeg hears one such chunk, and nothing of what stands behind it without being a chunk. */
  hasOneSound?: boolean;
  /** Where the name of a chunk begins. */
  nameAt?: number;
  /** What stands at the ninth byte. */
  form?: string;
  /** How long a chunk is, by its first 24 bytes; NaN where it doesn't say. */
  bytesOf: (head: Buffer, isFirst: boolean) => number;
}

/** Files that were written to a pipe say 0, 0x7ffff000, 0xffffffff, or -1 for "not known". */
const known = (bytes: number, largest = 0x7fff_0000): number => (bytes > 0 && bytes < largest ? bytes : NaN);
const known64 = (bytes: bigint): number => known(Number(bytes), Number.MAX_SAFE_INTEGER);

const riffBytes = (head: Buffer, isFirst: boolean): number =>
  isFirst ? 12 : 8 + 2 * Math.ceil(known(head.readUInt32LE(4)) / 2);

const formats: Format[] = [
  // WAV, and below it AVI (RIFF; Multimedia Programming Interface and Data Specifications, 1991).
  { first: 'RIFF', sound: /^data/, hasOneSound: true, bytesOf: riffBytes, form: 'WAVE' },
  { first: 'RIFF', sound: /^LIST/, bytesOf: riffBytes, form: 'AVI ' },
  // Sony's Wave64.
  { first: 'riff', sound: /^riff/, hasOneSound: true, bytesOf: (head) => known64(head.readBigInt64LE(16)) },
  // Apple Core Audio Format Specification.
  {
    ...{ first: 'caff', sound: /^data/ },
    bytesOf: (head, isFirst) => (isFirst ? 8 : 12 + known64(head.readBigInt64BE(4))),
  },
  // WMA and WMV (Advanced Systems Format, 2004).
  { first: '0&\xb2\x75', sound: /^6&\xb2\x75/, bytesOf: (head) => known64(head.readBigInt64LE(16)) },
  // MP4 (ISO/IEC 14496-12), of which ffmpeg tells what is missing.
  {
    ...{ first: 'ftyp', sound: /^$/, nameAt: 4 },
    bytesOf: (head) => (head.readUInt32BE(0) === 1 ? known64(head.readBigInt64BE(8)) : known(head.readUInt32BE(0))),
  },
];

interface Chunk {
  name: string;
  format: Format;
  startsAt: number;
  /** NaN where it doesn't say how long it is. */
  endsAt: number;
  /** Of the file. */
  size: number;
}

const headBytes = 24;
/** A recording of four hours in parts of a second has as many. */
const mostChunks = 30_000;

/** The chunks of a file, up to one that doesn't say how long it is. */
async function* chunksOf(path: string): AsyncGenerator<Chunk> {
  await using file = await open(path);
  const { size } = await file.stat();
  let format: Format | undefined;
  for (let [at, count] = [0, 0]; at < size && count < mostChunks; count += 1) {
    const head = Buffer.alloc(headBytes);
    await file.read(head, 0, headBytes, at);
    const nameIn = ({ nameAt = 0 }: Format): string => head.toString('latin1', nameAt, nameAt + 4);
    const form = head.toString('latin1', 8, 12);
    format ??= formats.find((one) => one.first === nameIn(one) && (one.form ?? form) === form);
    if (format === undefined) return;
    // The second of the parts of 1 GB of an AVI.
    const name = form === 'AVIX' ? form : nameIn(format);
    const endsAt = at + format.bytesOf(head, at === 0);
    yield { name, format, startsAt: at, endsAt, size };
    if (!(endsAt > at)) return;
    at = endsAt;
  }
}

/**
 * Whether an MP4 says of its sound that it is encrypted (ISO/IEC 14496-12, section 8.12): ffmpeg would decode noise.
 */
export async function isEncrypted(path: string): Promise<boolean> {
  for await (const { name, format, startsAt, endsAt } of chunksOf(path)) {
    if (format.first !== 'ftyp') return false;
    if (name === 'moov') return await says(path, startsAt, Math.min(endsAt, startsAt + longestIndex), /stsd.{12}enca/s);
  }
  return false;
}

/** Whether a page that begins a stream stands behind one that goes on with another (RFC 3533, sections 4 and 6). */
export const isOggOfParts = (path: string): Promise<boolean> => says(path, firstPagesBytes, Infinity, /OggS\0\x02/);

const firstPagesBytes = 512;

/** In bytes: recordings of days have less. */
const longestIndex = 64 * 1024 * 1024;

async function says(path: string, start: number, end: number, what: RegExp): Promise<boolean> {
  let before = '';
  for await (const bytes of createReadStream(path, { start, end: end || start + longestIndex })) {
    const text = before + (bytes as Buffer).toString('latin1');
    if (what.test(text)) return true;
    before = text.slice(-100);
  }
  return false;
}
